import { expect, it } from 'vitest';
import { removeOtpEmail } from '../support/http/wire.ts';
import { startAbusedSqlite } from './support/abusedServer.ts';
import { peopleOf, requestOf } from './support/files.ts';
import { askMeanwhile, sendStream } from './support/requests.ts';

/** The limit of a self-hosted instance. */
const CLEAR_PASSWORDS = 5_000;
/** The limit of a function. */
const DRY_RUN_RECORDS = 200_000;
const HASHED = 50;

const people = (count: number, options: object, user: object) => requestOf(options, peopleOf('o', count, user));

const password = { password: 'Password1!' };

it('clear passwords are limited, and hashing them does not hold up removals', async () => {
  const server = await startAbusedSqlite({ BCRYPT_COST: '10' });
  const refused = await sendStream(server, '/admin/v1/import', people(CLEAR_PASSWORDS + 1, {}, password));
  expect(refused).toMatchObject({ status: 413, text: expect.stringContaining('more than 5000 clear passwords') });
  const allowed = sendStream(server, '/admin/v1/import', people(HASHED, {}, password));
  const { result, answered } = await askMeanwhile(allowed, async () => {
    expect((await removeOtpEmail(server, 'unknown')).status).toBe(404);
  });
  expect(result).toMatchObject({ status: 200, text: expect.stringContaining(`"humanUsers":${HASHED}`) });
  expect(answered).toBeGreaterThanOrEqual(3);
  await server.expectSound();
});

it('a dry run is limited, and stays within the memory of a function at its limit', async () => {
  const server = await startAbusedSqlite({ K_SERVICE: 'import', MAX_REQUEST_BYTES: '1000000000' });
  const dryRun = (count: number) => sendStream(server, '/admin/v1/import', people(count, { dry_run: true }, {}));
  expect(await dryRun(DRY_RUN_RECORDS + 1)).toMatchObject({
    status: 413,
    text: expect.stringContaining(`more than ${DRY_RUN_RECORDS} records of a dry run`),
  });
  expect(await dryRun(DRY_RUN_RECORDS)).toMatchObject({
    status: 200,
    text: expect.stringContaining(`"humanUsers":${DRY_RUN_RECORDS}`),
  });
  await server.expectSound();
});
