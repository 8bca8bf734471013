import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { identityJson, identityResult } from '../support/command.ts';
import { person } from '../support/fixtures/organisations.ts';
import { databaseOptions, placeOfLocation } from '../support/places/locations.ts';
import { testDirectory } from '../support/places/servedPlace.ts';
import { repetitions } from '../support/repetitions.ts';
import { firestore, keyEnvironment, sqlite } from '../support/stores/stores.ts';

function* organisationFile(people: number): Generator<string> {
  yield '{"orgs":[{"orgId":"large","org":{"name":"Large"},"humanUsers":[';
  for (let number = 0; number < people; number++)
    yield `${number === 0 ? '' : ','}${JSON.stringify(person(`person-${number}`))}`;
  yield ']}]}';
}

const rows = [
  { kind: sqlite, people: repetitions({ few: 30_000, many: 200_000 }) },
  { kind: firestore, people: repetitions({ few: 3_000, many: 20_000 }) },
];

describe.each(rows)('identity org delete on $kind.name', ({ kind, people }) => {
  it.skipIf(!kind.isAvailable)(`deletes an organisation of ${people} people by one call`, async () => {
    const location = await kind.newLocation();
    const env = keyEnvironment(location);
    const database = databaseOptions(location);
    await identityJson(['init', ...database], { env });
    const before = await identityJson(['org', 'list', ...database], { env });
    const file = join(await testDirectory(), 'large.json');
    await pipeline(Readable.from(organisationFile(people)), createWriteStream(file));
    const imported = await identityResult(['import', file, '--to', placeOfLocation(location)], { env });
    expect(imported).toMatchObject({ code: 0, summary: { created: { humanUsers: people } } });
    expect(await identityJson(['org', 'delete', 'large', '--yes', ...database], { env })).toMatchObject({
      organisations: [{ orgId: 'large', people }],
      records: people + 1,
    });
    expect(await identityJson(['org', 'list', ...database], { env })).toEqual(before);
    expect(await identityJson(['user', 'list', ...database], { env })).toMatchObject({
      users: [{ kind: 'service user' }],
    });
  });
});
