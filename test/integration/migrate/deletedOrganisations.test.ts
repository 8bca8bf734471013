import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call, calling, identity, identityJson } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { betweenServers, exportFileWith, prepareMigration } from '../../support/migrations/migrating.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { type ServedPlace, servedPlace } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const result = z.looseObject({
  byHand: z.array(z.looseObject({ what: z.string(), command: z.string().optional() })),
  moved: z.looseObject({ organisations: z.number() }),
  proof: z.looseObject({
    unexpected: z.number(),
    differences: z.array(z.looseObject({ id: z.string(), outcome: z.string(), evidence: z.string().optional() })),
    others: z.array(z.looseObject({ orgId: z.string() })),
  }),
});

/** Migrates, and returns the exit code with the organisations that only the target has. */
async function migrate(args: readonly string[], place: Pick<ServedPlace, 'location'>) {
  const call = ['migrate', ...args, '--with', 'all', '--yes', '--json'];
  const { code, stdout, stderr } = await identity(call, await prepareMigration(place));
  const { proof, byHand, moved } = result.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  const onlyTarget = proof.differences.filter(({ evidence }) => evidence !== undefined);
  expect(onlyTarget.length, stderr).toBe(proof.unexpected);
  return {
    code,
    moved: moved.organisations,
    deleted: onlyTarget.map(({ id, outcome, evidence }) => [id, outcome, evidence]),
    others: proof.others.map(({ orgId }) => orgId),
    commands: byHand.flatMap(({ command = '' }) => (/org delete|orgs\/me/.test(command) ? [command] : [])),
  };
}

const acme = organisation('acme', { humanUsers: [person('ada')] });
const gone = organisation('gone', { humanUsers: [person('bob')] });
const tenant = organisation('tenant', { humanUsers: [person('eve')] });

/** Fills an instance with organisations. */
async function filled(...orgs: readonly object[]): Promise<ServedPlace> {
  const place = await servedPlace(sqlite);
  await call(`import ${await exportFileWith(...orgs)} --to ${place.database}`, 0);
  return place;
}

async function deleteOrganisation({ location }: ServedPlace, orgId: string): Promise<void> {
  await identityJson(['org', 'delete', orgId, '--yes', ...databaseOptions(location)]);
}

const EXPORTED = 'an import created the organisation from an export of the source';
const none = { deleted: [], others: [], commands: [] };

describe('a second migration, after an organisation was deleted in the source,', () => {
  it('ends with 3 between instances, and names the organisation with the command that deletes it', async () => {
    const [north, south] = [await filled(acme, gone), await filled(tenant)];
    const places = betweenServers(north, south);
    expect(await migrate(places, north)).toEqual({ ...none, code: 0, moved: 2, others: ['tenant'] });
    await deleteOrganisation(north, 'gone');
    const again = await migrate(places, north);
    expect(again).toEqual({
      code: 3,
      moved: 1,
      deleted: [['gone', 'onlyTarget', EXPORTED]],
      others: ['tenant'],
      commands: ['identity org delete gone --data DIR'],
    });
    const databases = ['--from', north.database, '--to', south.database];
    const text = await calling(await prepareMigration(north))(`migrate ${databases.join(' ')} --with all --yes`, 3);
    expect(text.stdout).toContain(
      `organisation gone (Organisation gone) of gone (Organisation gone): only in the target (${EXPORTED})`,
    );
    expect(text.stdout).toContain('1 organisation only in the target, and not compared, because nothing shows that');
    expect(text.stdout).toContain(
      `in ${south.database}, delete organisation gone (Organisation gone) with all its records`,
    );
    await deleteOrganisation(south, 'gone');
    expect(await migrate(places, north)).toEqual({ ...none, code: 0, moved: 1, others: ['tenant'] });
  });

  it('ends with 0 if it selects or excludes organisations', async () => {
    const [north, south] = [await filled(acme, gone), await filled(tenant)];
    const places = betweenServers(north, south);
    await migrate(places, north);
    expect(await migrate([...places, '--org', 'acme'], north)).toEqual({ ...none, code: 0, moved: 1 });
    const excluding = await migrate([...places, '--exclude-org', 'gone'], north);
    expect(excluding).toEqual({ ...none, code: 0, moved: 1, others: ['tenant'] });
  });

  it('attributes no organisation of the target to an instance that did not export it', async () => {
    const [north, other, south] = [await filled(acme), await filled(gone), await filled(tenant)];
    await migrate(betweenServers(other, south), other);
    const merged = await migrate(betweenServers(north, south), north);
    expect(merged).toEqual({ ...none, code: 0, moved: 1, others: ['gone', 'tenant'] });
  });

  it('ends with 3 into a ZITADEL for an organisation that the user of its token has created', async () => {
    const north = await filled(acme, gone);
    const { zitadel, tokenFile } = await filledZitadel([tenant]);
    const places = ['--from', north.url, '--from-token-file', north.tokenFile, '--to', zitadel.url];
    const call = [...places, '--to-token-file', tokenFile];
    expect(await migrate(call, north)).toEqual({ ...none, code: 0, moved: 2, others: ['tenant'] });
    await deleteOrganisation(north, 'gone');
    const again = await migrate(call, north);
    expect(again).toMatchObject({
      code: 3,
      deleted: [['gone', 'onlyTarget', 'the organisation was created by owner, whose token this migration uses']],
      others: ['tenant'],
    });
    expect(again.commands).toEqual([
      expect.stringContaining(`--header 'x-zitadel-orgid: gone' '${zitadel.url}/management/v1/orgs/me'`),
    ]);
  });

  it('ends with 3 from a ZITADEL for an organisation that the ZITADEL has deleted', async () => {
    const { zitadel, tokenFile } = await filledZitadel([acme, gone]);
    const south = await filled(tenant);
    const places = ['--from', zitadel.url, '--from-token-file', tokenFile, '--to', south.database];
    expect(await migrate(places, south)).toEqual({ ...none, code: 0, moved: 2, others: ['tenant'] });
    zitadel.contents.delete('gone');
    const again = await migrate(places, south);
    expect(again).toMatchObject({
      code: 3,
      deleted: [['gone', 'onlyTarget', 'the source has deleted the organisation']],
      others: ['tenant'],
    });
  });
});
