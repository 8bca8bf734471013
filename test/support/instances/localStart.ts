import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isFree } from '../../../tools/freePort.ts';
import { type Ended, type Running, root, startProgram } from '../../../tools/program.ts';
import { serverSettings } from '../processes/programs.ts';

/** A running `npm start`. */
export interface LocalStart {
  readonly port: number;
  readonly program: Running;
  readonly sourceUrl: string;
  readonly targetUrl: string;
  /** The owners' tokens. */
  readonly sourceToken: string;
  readonly targetToken: string;
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

/** The options of the start. */
export interface LocalStartOptions {
  /** The value of LOCAL_DIR. */
  readonly directory: string;
  /** The value of PORT. By default, finds three free ports. */
  readonly port?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

const ATTEMPTS = 10;
// Below the ephemeral ports, so that no other process takes a port between the search and the start. Above 10080, the
// highest port to which `fetch` refuses to connect.
const LOWEST_PORT = 10_081;
const HIGHEST_PORT = 30_000;

/** Starts the program of `npm start`, and waits until it is ready. */
export async function startLocal(options: LocalStartOptions): Promise<LocalStart> {
  const { port } = options;
  if (port !== undefined) return startOn(port, options);
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOn(await threeFreePorts(), options);
    } catch (error) {
      const isTaken = error instanceof Error && error.message.includes('EADDRINUSE');
      if (!isTaken || attempt === ATTEMPTS) throw error;
    }
  }
}

async function startOn(port: number, { directory, env, cwd }: LocalStartOptions): Promise<LocalStart> {
  const program = await startProgram(process.execPath, [join(root, 'local', 'start.ts')], /Ctrl-C stops/, {
    env: { FIRESTORE_EMULATOR_HOST: undefined, ...serverSettings, ...env, LOCAL_DIR: directory, PORT: String(port) },
    ...(cwd === undefined ? {} : { cwd }),
  });
  const token = (name: string) => readFile(join(directory, name, 'owner.pat'), 'utf8');
  try {
    return {
      port,
      program,
      sourceUrl: `http://127.0.0.1:${port}`,
      targetUrl: `http://127.0.0.1:${port + 1}`,
      sourceToken: await token('source'),
      targetToken: await token('target'),
      stop: (signal) => program.stop(signal),
    };
  } catch (error) {
    await program.stop();
    throw error;
  }
}

export async function threeFreePorts(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT);
    const free = await Promise.all([port, port + 1, port + 2].map(isFree));
    if (free.every(Boolean)) return port;
  }
}
