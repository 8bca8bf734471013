import { join } from 'node:path';
import { type Running, root, startProgram } from '../../../tools/program.ts';
import { listening, serve } from '../instances/commandInstance.ts';
import { newPlace, type ServedPlace } from '../places/servedPlace.ts';
import type { TransferServer } from '../places/transferServer.ts';
import { identityProgram } from '../processes/programs.ts';
import type { StoreKind } from '../stores/stores.ts';

const transferServer = join(root, 'test/support/places/transferServer.ts');

/** An instance whose server a test can suspend, or kill and start again at the same address. */
export interface RestartablePlace extends ServedPlace {
  kill(): Promise<void>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  start(): Promise<void>;
}

/**
 * Initialises a database and serves it, until the test kills it or ends.
 * @param transfers the bucket and the limits of its server, if it has a bucket
 */
export async function restartablePlace(
  kind: StoreKind,
  transfers?: Pick<TransferServer, 'limits' | 'bucketUrl'>,
): Promise<RestartablePlace> {
  let running: Running | undefined;
  let startAgain = async () => {};
  const place = await newPlace(kind, async (options, given, location) => {
    const env = { ...given, LOG_LEVEL: 'silent' };
    const start = async (port = '0') => {
      running ??=
        transfers === undefined
          ? await serve(options, [], env, port)
          : await serveWithBucket({ location, ...transfers, port: Number(port) }, env);
      return running.ready[1] ?? '';
    };
    const url = await start();
    startAgain = async () => void (await start(new URL(url).port));
    return { url, stop: kill };
  });
  async function kill(): Promise<void> {
    await running?.stop('SIGKILL');
    running = undefined;
  }
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    if (running !== undefined) process.kill(running.pid, name);
  };
  return { ...place, kill, start: startAgain, signal };
}

function serveWithBucket(server: TransferServer, env: Readonly<Record<string, string | undefined>>): Promise<Running> {
  return startProgram(identityProgram[0], [transferServer, JSON.stringify(server)], listening, { env });
}
