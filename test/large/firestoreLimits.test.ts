import { expect, it } from 'vitest';
import { identity } from '../support/command.ts';
import { describeWithFirestore } from '../support/emulators/withFirestore.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { betweenServers, exportFileWith, migrate, prepareMigration } from '../support/migrations/migrating.ts';
import { servedPlace } from '../support/places/servedPlace.ts';
import { firestore, keyEnvironment } from '../support/stores/stores.ts';

const limits = { MAX_RESPONSE_BYTES: '4000000', MAX_REQUEST_BYTES: '4000000' };
const PEOPLE = 20_000;

describeWithFirestore('a migration of 20,000 people between cloud-hosted instances', () => {
  it('goes through requests and responses of 4 MB', async () => {
    const north = await servedPlace(firestore, [], limits);
    const south = await servedPlace(firestore, [], limits);
    const humanUsers = Array.from({ length: PEOPLE }, (_, number) => person(`person-${number}`));
    const file = await exportFileWith(
      organisation('large', { humanUsers: humanUsers.slice(0, 15_000) }),
      organisation('small', { humanUsers: humanUsers.slice(15_000) }),
    );
    const env = keyEnvironment(north.location);
    expect(await identity(['import', file, '--to', north.database], { env })).toMatchObject({ code: 0 });
    const options = [...betweenServers(north, south), '--with', 'all', '--yes'];
    expect(await migrate(options, await prepareMigration(north))).toMatchObject({
      outcome: 'done',
      proof: { unexpected: 0, expected: 0, sections: { humanUsers: { equal: PEOPLE } }, sourceUnchanged: true },
    });
    const requests = south.requests().filter((line) => line === '/admin/v1/import 200');
    expect(requests.length).toBeGreaterThan(2);
  });
});
