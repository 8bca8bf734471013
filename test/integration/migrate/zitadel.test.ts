import { describe, expect, it } from 'vitest';
import { organisation } from '../../support/fixtures/organisations.ts';
import { exportFileWith, migrate, prepareMigration } from '../../support/migrations/migrating.ts';
import { servedPlace } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { DEFAULT_ORGANISATION } from '../../support/zitadel/behaviour.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const acme = organisation('acme', { humanUsers: people(3) });
const secrets = ['--with', 'passwords,otp,keys', '--yes'];

describe('a migration', { timeout: 120_000 }, () => {
  it('from a ZITADEL leaves its default organisation behind, and says what its exports lack', async () => {
    const { zitadel, tokenFile } = await filledZitadel([acme, organisation('emca')]);
    const north = await servedPlace(sqlite);
    const from = ['--from', zitadel.url, '--from-token-file', tokenFile];
    const result = await migrate([...from, '--to', north.database, ...secrets], await prepareMigration(north));
    expect(result).toMatchObject({
      outcome: 'done',
      source: { kind: 'zitadel' },
      leftOut: [{ orgId: DEFAULT_ORGANISATION }],
      organisations: [{ orgId: 'acme', people: 3 }, { orgId: 'emca' }],
      proof: { unexpected: 0, sections: { humanUsers: { equal: 3 } } },
      logins: { withPassword: 3, ready: 3 },
    });
    expect(zitadel.deaths()).toBe(0);
  });

  it('to a ZITADEL waits for its projections, and lists what remains to be done', async () => {
    const { zitadel, tokenFile } = await filledZitadel([], { lagMs: 1_500 });
    const north = await servedPlace(sqlite);
    const to = ['--to', zitadel.url, '--to-token-file', tokenFile];
    const migrating = await prepareMigration(north);
    const result = await migrate(['--from', await exportFileWith(acme), ...to, ...secrets], migrating);
    expect(result, JSON.stringify(result.proof)).toMatchObject({
      outcome: 'done',
      target: { kind: 'zitadel' },
      moved: { imported: { created: { humanUsers: 3 } } },
      proof: { unexpected: 0 },
      leftToDo: expect.arrayContaining([expect.objectContaining({ message: expect.stringContaining('ORG_OWNER') })]),
      logins: { withPassword: 3, ready: 3 },
    });
  });
});
