import { expect, it } from 'vitest';
import { identity } from '../support/command.ts';
import { describeWithFirestore } from '../support/emulators/withFirestore.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { betweenServers, exportFileWith, migrate, prepareMigration } from '../support/migrations/migrating.ts';
import { transferBucket, transferPlace } from '../support/places/transferPlace.ts';
import { repetitions } from '../support/repetitions.ts';
import { firestore, keyEnvironment } from '../support/stores/stores.ts';

const { people, bytes } = repetitions({
  few: { people: 5_000, bytes: 1_000_000 },
  many: { people: 20_000, bytes: 4_000_000 },
});
const limits = { responseBytes: bytes, requestBytes: bytes };

describeWithFirestore(`a migration of ${people} people between cloud-hosted instances`, () => {
  it(`goes through a bucket if requests and responses have at most ${bytes} bytes`, async () => {
    const bucket = await transferBucket();
    const north = await transferPlace(bucket, limits, { kind: firestore });
    const south = await transferPlace(bucket, limits, { kind: firestore });
    const humanUsers = Array.from({ length: people }, (_, number) => person(`person-${number}`));
    const file = await exportFileWith(
      organisation('large', { humanUsers: humanUsers.slice(0, (people * 3) / 4) }),
      organisation('small', { humanUsers: humanUsers.slice((people * 3) / 4) }),
    );
    const env = keyEnvironment(north.location);
    expect(await identity(['import', file, '--to', north.database], { env })).toMatchObject({ code: 0 });
    const options = [...betweenServers(north, south), '--with', 'all', '--yes'];
    expect(await migrate(options, await prepareMigration(north))).toMatchObject({
      outcome: 'done',
      proof: { unexpected: 0, expected: 0, sections: { humanUsers: { equal: people } }, sourceUnchanged: true },
    });
    expect(south.events()).toContain('import.uploadDeleted');
    expect(north.events()).toContain('export.objectDeleted');
  });
});
