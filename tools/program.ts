import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * The directory in which Node caches the compiled code of programs. Compiling takes most of the time to start a
 * program.
 */
export const NODE_COMPILE_CACHE = join(tmpdir(), 'identity-test-compile-cache');

/** `env` overrides variables of this process's environment. A variable with the value `undefined` is removed. */
export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** The file descriptor that receives standard error. If absent, this process reads standard error. */
  readonly stderr?: number;
}

export interface Ended {
  /** The exit code; `null` if a signal ended the program. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that runs and has printed that it is ready. */
export interface Running {
  readonly ready: RegExpExecArray;
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves once standard output or standard error contains `part`. Rejects if the program ends earlier. */
  written(part: string): Promise<void>;
  ended(): Promise<Ended>;
  /** Sends `signal`, or SIGTERM if it is absent, and waits until the program has ended. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

interface Watched {
  readonly child: ChildProcess;
  readonly text: { stdout: string; stderr: string };
  readonly ended: Promise<Ended>;
}

export function run(command: string, args: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  return watch(command, args, options).ended;
}

/**
 * Starts a program, and waits until its standard output matches `ready`.
 * @throws Error with the program's output, if the program ends before the match
 */
export async function startProgram(
  command: string,
  args: readonly string[],
  ready: RegExp,
  options: ProgramOptions = {},
): Promise<Running> {
  const { child, text, ended } = watch(command, args, options);
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const endedEarly = ended.then(({ code, stdout, stderr }) => {
    throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  });
  const match = await Promise.race([waitFor(child, () => ready.exec(text.stdout)), endedEarly]);
  endedEarly.catch(() => process.off('exit', kill));
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  const written = async (part: string) => {
    await Promise.race([
      waitFor(child, () => (`${text.stdout}${text.stderr}`.includes(part) ? part : null)),
      endedEarly,
    ]);
  };
  return {
    ready: match,
    pid: child.pid ?? 0,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    written,
    ended: () => ended,
    stop,
  };
}

/**
 * Calls `look` at once and after each new output of the program, until `look` returns a result other than null.
 * Resolves with this result.
 */
function waitFor<Found>(child: ChildProcess, look: () => Found | null): Promise<Found> {
  const { promise, resolve } = Promise.withResolvers<Found>();
  const streams = [child.stdout, child.stderr];
  const lookAgain = () => {
    const result = look();
    if (result === null) return;
    // Remove the listener, because `look` searches the whole output. To search it again after each new output would
    // slow down a long run.
    for (const stream of streams) stream?.off('data', lookAgain);
    resolve(result);
  };
  for (const stream of streams) stream?.on('data', lookAgain);
  lookAgain();
  return promise;
}

function watch(command: string, args: readonly string[], { env, cwd = root, stderr }: ProgramOptions): Watched {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', stderr ?? 'pipe'],
  });
  const text = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text.stdout += part;
  });
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text.stderr += part;
  });
  const ended = once(child, 'close').then(
    ([code]): Ended => ({ code: typeof code === 'number' ? code : null, ...text }),
  );
  return { child, text, ended };
}
