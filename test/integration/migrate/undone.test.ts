import { expect, it } from 'vitest';
import { z } from 'zod';
import { call, identity, identityJson } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { servedPlace } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';

const shownPlan = z.looseObject({ undone: z.array(z.looseObject({ id: z.string() })) });

it('a plan with --on-conflict overwrite lists the factors, passwords and states that the target loses', async () => {
  const { database, location } = await servedPlace(sqlite);
  const hash = (letter: string) => `$2a$04$0123456789012345678901u${letter.repeat(31)}`;
  const people = (letter: string) => [
    { ...person('ada', { hashedPassword: { value: hash(letter) } }), otpEmail: true, state: 'USER_STATE_ACTIVE' },
    { ...person('ben', { otpCode: 'JBSWY3DPEHPK3PXP' }), state: 'USER_STATE_ACTIVE' },
    { ...person('eve'), state: 'USER_STATE_ACTIVE' },
  ];
  const acme = (letter: string) => organisation('acme', { humanUsers: people(letter) });
  await call(['import', await exportFileWith(acme('A')), '--to', database], 0);
  const options = databaseOptions(location);
  await identityJson(['otp-email', 'remove', 'ada', ...options]);
  await identityJson(['user', 'lock', 'ben', ...options]);
  const plan = ['migrate', '--dry-run', '--from', await exportFileWith(acme('B')), '--to', database];
  const overwrite = [...plan, '--on-conflict', 'overwrite'];
  const { stdout } = await identity(overwrite);
  expect(stdout).toContain(
    `
Changes in the target that --on-conflict overwrite undoes
  ada (name of ada) of acme gets the password of the source, gets back the OTP e-mail factor
  ben (name of ben) of acme becomes active (now locked)
`,
  );
  const json = await identity([...plan, '--on-conflict', 'overwrite', '--json']);
  const last = shownPlan.parse(JSON.parse(json.stdout.trim().split('\n').at(-1) ?? ''));
  expect(last.undone.map(({ id }) => id)).toEqual(['ada', 'ben']);
  const skip = await identity([...plan, '--on-conflict', 'skip']);
  expect(skip.stdout).not.toContain('Undone');
});
