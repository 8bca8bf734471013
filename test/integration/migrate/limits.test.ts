import { describe, expect, it } from 'vitest';
import { identity } from '../../support/command.ts';
import { linkedOrganisations, staying } from '../../support/fixtures/linkedOrganisations.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { betweenServers, exportFileWith, migrate, prepareMigration } from '../../support/migrations/migrating.ts';
import { loggedPlace, servedPlace } from '../../support/places/servedPlace.ts';
import { describeStores, keyEnvironment, type StoreKind, sqlite } from '../../support/stores/stores.ts';

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
const all = ['--with', 'passwords,otp,keys', '--yes'];
const limits = { MAX_RESPONSE_BYTES: '100000', MAX_REQUEST_BYTES: '100000' };

const crowd = (orgId: string, count: number) =>
  organisation(orgId, {
    humanUsers: Array.from({ length: count }, (_, number) =>
      person(`${orgId} ${number}`, { hashedPassword: { value: HASH } }),
    ),
  });

/** Organisations that refer to each other, and one that is larger than a request and a response. */
const orgs = [staying, ...linkedOrganisations, crowd('large', 600), crowd('small', 50)];

async function filledPlace(kind: StoreKind, variables: Readonly<Record<string, string>>) {
  const place = await servedPlace(kind, variables);
  const env = keyEnvironment(place.location);
  const file = await exportFileWith(...orgs);
  expect(await identity(['import', file, '--to', place.database, '--with', 'all'], { env })).toMatchObject({ code: 0 });
  return place;
}

describeStores('a migration of an organisation that is larger than a request and a response', (kind) => {
  it.each([
    ['from an instance with limits', limits, {}],
    ['into an instance with limits', {}, limits],
  ])('%s is proved, and warns of nothing that a small one does not', async (_case, from, to) => {
    const [north, south] = [await filledPlace(kind, from), await servedPlace(kind, to)];
    const migrating = await prepareMigration(north);
    const result = await migrate([...betweenServers(north, south), ...all, '--new-orgs-only'], migrating);
    expect(result).toMatchObject({
      outcome: 'done',
      errors: [],
      warnings: [],
      target: { digest: result.source.digest },
      proof: { method: 'fields', unexpected: 0, expected: 0, sourceUnchanged: true },
    });
    const again = await migrate([...betweenServers(north, south), ...all], await prepareMigration(north));
    expect(again).toMatchObject({ outcome: 'done', moved: { imported: { created: {}, overwritten: {} } } });
  });
});

describe('the plan of a migration into an instance with limits', () => {
  it('reports that the import takes several requests, and had no dry run', async () => {
    const [north, south] = [await filledPlace(sqlite, limits), await loggedPlace(sqlite, limits)];
    const { cwd } = await prepareMigration(north);
    const call = ['migrate', 'plan', ...betweenServers(north, south), '--with', 'all'];
    const { stdout, stderr } = await identity(call, { cwd });
    expect(stderr).not.toContain('stopped');
    const checked = stdout.slice(stdout.indexOf('Checked'));
    expect(checked).toContain(`${north.url} responds with at most 100,000 bytes: it was exported in pages`);
    expect(checked).toContain(`${south.url} takes at most 100,000 bytes in a request: the import is sent in several`);
    expect(checked).toContain(`${south.url} cannot try an import as large as this one`);
    expect(south.requests()).not.toContain('/admin/v1/import 413');
  });
});
