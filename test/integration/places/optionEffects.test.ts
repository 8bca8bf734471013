import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identity } from '../../support/command.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';

const FILES_ONLY = 'the option limits calls of instances, databases and ZITADEL, not of files';
const NO_CONFLICTS = 'the target is a new file, in which no records exist';
const NOT_FROM_ZITADEL = 'the option is for exports of ZITADEL';
const NOT_INTO_ZITADEL = 'the option is for imports into ZITADEL';

/** A call without its places, the option that it does not need, and the reason. */
type Row = readonly [call: string, option: string, reason: string];

const rows: readonly Row[] = [
  ['migrate --from FILE --to NEW --with all --timeout 30m', '--timeout', FILES_ONLY],
  ['migrate --from FILE --to NEW --with all --on-conflict report', '--on-conflict', NO_CONFLICTS],
  ['migrate --from DATABASE --to NEW --with all --on-conflict skip', '--on-conflict', NO_CONFLICTS],
  ['migrate --from DATABASE --to NEW --with all --accept unknown-states', '--accept unknown-states', NOT_FROM_ZITADEL],
  ['migrate --from FILE --to DATABASE --accept refused-hashes', '--accept refused-hashes', NOT_INTO_ZITADEL],
  ['export FILE --to NEW --timeout 30m', '--timeout', FILES_ONLY],
  ['export FILE --to NEW --accept unknown-states', '--accept unknown-states', NOT_FROM_ZITADEL],
  ['export DATABASE --to NEW --accept unknown-states', '--accept unknown-states', NOT_FROM_ZITADEL],
  ['import FILE --to DATABASE --accept refused-hashes', '--accept refused-hashes', NOT_INTO_ZITADEL],
  ['import FILE --to DATABASE --accept unknown-states', '--accept unknown-states', NOT_FROM_ZITADEL],
  ['compare FILE FILE --timeout 30m', '--timeout', FILES_ONLY],
  ['compare FILE DATABASE --accept unknown-states', '--accept unknown-states', NOT_FROM_ZITADEL],
  ['inspect FILE --timeout 30m', '--timeout', FILES_ONLY],
  ['inspect FILE --accept unknown-states', '--accept unknown-states', NOT_FROM_ZITADEL],
  ['inspect DATABASE --accept unknown-states', '--accept unknown-states', NOT_FROM_ZITADEL],
  ['inspect FILE --with otp', '--with', 'a file is inspected with all its secrets'],
  [
    'migrate prepare https://zitadel.example.com --token-file NEW.pat --only export',
    '--only',
    'the console of ZITADEL does not restrict tokens',
  ],
];

/** Returns the words of a call, with places for their names. */
async function placesOfCalls(): Promise<(call: string) => string[]> {
  const directory = await testDirectory();
  const places = new Map([
    ['FILE', await exportFileWith(organisation('acme'))],
    ['NEW', join(directory, 'new.json')],
    ['NEW.pat', join(directory, 'new.pat')],
    ['DATABASE', (await servedPlace(sqlite)).database],
  ]);
  return (call) => call.split(' ').map((word) => places.get(word) ?? word);
}

describe('an option', () => {
  it('without effect on the places of a call is a usage error', async () => {
    const wordsOf = await placesOfCalls();
    for (const [call, option, reason] of rows) {
      const trial = call.startsWith('migrate --') ? ['--dry-run'] : [];
      const { code, stderr } = await identity([...wordsOf(call), ...trial]);
      expect({ call, code, stderr }).toEqual({
        call,
        code: 64,
        stderr: `identity: ${option} has no effect here: ${reason}\n`,
      });
    }
  });

  it('with an effect on one of two places is accepted', async () => {
    const wordsOf = await placesOfCalls();
    for (const [call, expected] of [
      ['import FILE --to DATABASE --timeout 30m --on-conflict skip --dry-run', 0],
      ['migrate --from FILE --to DATABASE --timeout 30m --on-conflict skip --dry-run', 0],
      ['compare FILE DATABASE --timeout 30m', 3],
    ] as const) {
      const { code, stderr } = await identity(wordsOf(call));
      expect({ call, code }, stderr).toEqual({ call, code: expected });
    }
  });
});
