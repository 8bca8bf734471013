import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { openConnection } from '../support/http/rawHttp.ts';
import { importInto } from '../support/http/wire.ts';
import { startAbusedSqlite } from './support/abusedServer.ts';

/** The write-ahead log may be as large as this, or the database, whichever is larger. */
const LOG_BYTES = 64_000_000;
const VALUES = 40;
const VALUE_CHARACTERS = 600_000;

const values = (orgId: string) =>
  organisation(orgId, {
    humanUsers: [person(`p${orgId}`)],
    userMetadata: Array.from({ length: VALUES }, (_, index) => ({
      id: `p${orgId}`,
      key: `k${index}`,
      value: 'A'.repeat(VALUE_CHARACTERS),
    })),
  });

it('an export whose client does not read ends at its timeout, and the write-ahead log stays bounded', async () => {
  const server = await startAbusedSqlite();
  const [, directory = ''] = server.database ?? [];
  await importInto(server, { data_orgs: { orgs: [values('first')] } });
  const body = '{"response_output":true,"timeout":"2s"}';
  const socket = await openConnection(server.url);
  onTestFinished(() => void socket.destroy());
  let isCut = false;
  void server.written('"route":"/admin/v1/export"').then(() => {
    isCut = true;
  });
  socket
    .on('error', () => undefined)
    .write(
      `POST /admin/v1/export HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  await once(socket, 'readable');
  let logBytes = 0;
  for (let number = 0; !isCut; number++) {
    await importInto(server, { data_orgs: { orgs: [values(`o${number}`)] } });
    logBytes = Math.max(logBytes, (await stat(join(directory, 'identity.sqlite-wal'))).size);
  }
  const databaseBytes = (await stat(join(directory, 'identity.sqlite'))).size;
  // The client reads what has been sent, and then finds the connection closed before the end of the file.
  let end = '';
  socket.on('data', (chunk) => {
    end = (end + String(chunk)).slice(-100);
  });
  await Promise.race([once(socket, 'end'), once(socket, 'close')]);
  expect(end).not.toContain('\r\n0\r\n\r\n');
  expect(logBytes).toBeLessThan(2 * Math.max(LOG_BYTES, databaseBytes));
  await server.expectSound();
});
