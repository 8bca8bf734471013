import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../shared/store/openStore.ts';
import { startProgram } from '../../tools/program.ts';
import { send } from '../support/http/wire.ts';
import { testInstance } from '../support/instances/testInstance.ts';
import { identityProgram } from '../support/processes/programs.ts';
import { repetitions } from '../support/repetitions.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';
import { faultTable } from './support/faultTable.ts';
import { migration } from './support/migration.ts';
import { survived } from './support/survived.ts';
import { expectAllIn, expectComplete, expectSound, type Undisturbed, undisturbed } from './support/undisturbed.ts';

/** The sizes that the database's files cannot exceed, in blocks of 512 bytes; the import needs more. */
const limits = repetitions({ few: [600, 1_200], many: [400, 500, 600, 700, 800, 900, 1_000, 1_100, 1_200, 1_300] });

const { fault, outcome } = faultTable['disk is full'];
let expected: Undisturbed;
beforeAll(async () => {
  expected = await undisturbed(migration(300));
});

// The file size limit of a process simulates a full disk: filling a real one needs privileges.
async function importLimited(directory: string, blocks: number, token: string) {
  const [command, script] = identityProgram;
  const program = [command, script, 'serve', '--data', directory, '--port', '0'];
  const args = ['-c', `ulimit -f ${blocks} && exec "$0" "$@"`, ...program];
  const env = { LOG_LEVEL: 'silent', FIRESTORE_EMULATOR_HOST: undefined };
  const running = await startProgram('/bin/sh', args, /listening on (\S+)/, { env });
  try {
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', path: '/admin/v1/import', token, body: expected.body, headers };
    return await send({ url: running.ready[1] ?? '' }, request);
  } finally {
    await running.stop('SIGKILL');
  }
}

describe.skipIf(process.platform === 'win32')('an import into a database file', () => {
  it(`during which ${fault}: ${outcome}`, async (context) => {
    for (const blocks of limits) {
      const location = await sqlite.newLocation();
      if (location.kind !== 'sqlite') throw new Error('the embedded store has a directory');
      const store = await openStore(location);
      const { token } = await testInstance(store).finally(() => store.close());
      const { status, text } = await importLimited(location.directory, blocks, token);
      expect(status, text).toBe(500);
      const after = await openTestStore(sqlite, location);
      await expectSound(after, expected);
      const again = await resend(location.directory, token);
      expect(again.status, again.text).toBe(200);
      expectAllIn(again.text, expected);
      await expectComplete(after, expected);
    }
    survived(context, 'disk is full', 'SQLite', limits.length);
  });
});

function resend(directory: string, token: string) {
  const unlimited = 1_000_000;
  return importLimited(directory, unlimited, token);
}
