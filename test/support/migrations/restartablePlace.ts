import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { type Running, root, startProgram } from '../../../tools/program.ts';
import { identityJson } from '../command.ts';
import { databaseOptions, placeOfLocation } from '../places/locations.ts';
import { type ServedPlace, testDirectory } from '../places/servedPlace.ts';
import type { TransferServer } from '../places/transferServer.ts';
import { identityProgram } from '../processes/programs.ts';
import { keyEnvironment, type StoreKind } from '../stores/stores.ts';

const transferServer = join(root, 'test/support/places/transferServer.ts');
const created = z.object({ token: z.string(), orgId: z.string() });

/** An instance whose server can be killed and started again at the same address, or suspended. */
export interface RestartablePlace extends ServedPlace {
  kill(): Promise<void>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  start(): Promise<void>;
}

/**
 * Initialises a database and serves it, until it is killed or the test has finished.
 * @param transfers the bucket and the limits of its server, if it has a bucket
 */
export async function restartablePlace(
  kind: StoreKind,
  transfers?: Pick<TransferServer, 'limits' | 'bucketUrl'>,
): Promise<RestartablePlace> {
  const location = await kind.newLocation();
  const env = { ...keyEnvironment(location), LOG_LEVEL: 'silent' };
  const options = databaseOptions(location);
  const { token, orgId } = created.parse(await identityJson(['init', ...options], { env }));
  const [command, script] = identityProgram;
  const args = (port: string) =>
    transfers === undefined
      ? [script, 'serve', '--port', port, ...options]
      : [transferServer, JSON.stringify({ location, ...transfers, port: Number(port) })];
  const serve = (port: string) =>
    startProgram(command, args(port), /^listening on (http:\/\/127\.0\.0\.1:(\d+))\n/, { env });
  let running: Running | undefined = await serve('0');
  const [, url = '', port = ''] = running.ready;
  const kill = async () => {
    await running?.stop('SIGKILL');
    running = undefined;
  };
  const start = async () => {
    running ??= await serve(port);
  };
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    if (running !== undefined) process.kill(running.pid, name);
  };
  onTestFinished(kill);
  const tokenFile = join(await testDirectory(), 'owner.pat');
  await writeFile(tokenFile, `${token}\n`, { mode: 0o600 });
  return { location, database: placeOfLocation(location), url, tokenFile, token, orgId, kill, start, signal };
}
