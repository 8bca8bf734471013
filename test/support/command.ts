import { Readable, Writable } from 'node:stream';
import { expect } from 'vitest';
import { z } from 'zod';
import { runCommandLine } from '../../cli/commands/commandLine.ts';
import { type EndedCommand, identityProcess, parsedOutput, withoutTrail } from './processes/programs.ts';

/** The environment of a command. Missing values are those of this process. */
interface CommandOptions {
  /** A variable that is `undefined` is removed from the environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The working directory. Calls that set it must not overlap. */
  readonly cwd?: string;
  readonly stdin?: string | Uint8Array;
  readonly now?: Date;
  readonly signal?: AbortSignal;
  /** Called with all output so far, after each output. */
  readonly onStdout?: (text: string) => void;
  readonly onStderr?: (text: string) => void;
}

/** Variables that Node and libraries read in the environment of their process. */
const processVariables = [
  'FORCE_COLOR',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'NODE_EXTRA_CA_CERTS',
  'NODE_OPTIONS',
  'NO_COLOR',
  'STORAGE_EMULATOR_HOST',
];

/**
 * Runs the `identity` command to its end, in this process unless variables of its environment need a new process. Tests
 * of signals, pipes or terminals start a process themselves.
 */
export async function identity(args: readonly string[], options: CommandOptions = {}): Promise<EndedCommand> {
  const { env = {}, cwd, stdin, now = new Date(), signal = new AbortController().signal } = options;
  if (processVariables.some((name) => env[name] !== undefined))
    return identityProcess(args, cwd === undefined ? { env } : { env, cwd });
  const [stdout, stderr] = [new Captured(options.onStdout), new Captured(options.onStderr)];
  const environment = { ...process.env, ...env };
  const input = Readable.from(stdin === undefined ? [] : [stdin], { objectMode: false });
  const before = process.cwd();
  if (cwd !== undefined) process.chdir(cwd);
  try {
    const code = await runCommandLine(args, { stdin: input, stdout, stderr, environment, now, signal });
    return withoutTrail({ code, stdout: stdout.text, stderr: stderr.text });
  } finally {
    if (cwd !== undefined) process.chdir(before);
  }
}

/**
 * Returns a function that runs a call, and expects its exit code and texts in its output. Each text is a list of words
 * without spaces.
 */
export function calling(options: CommandOptions = {}) {
  return async (
    line: string | readonly string[],
    code: number,
    ...texts: readonly (string | RegExp)[]
  ): Promise<EndedCommand> => {
    const words = typeof line === 'string' ? line.trim().split(/\s+/) : line;
    const ended = await identity(words, options);
    const printed = `${ended.stdout}${ended.stderr}`;
    expect(ended.code, `${words.join(' ')}: ${printed}`).toBe(code);
    for (const text of texts)
      expect(printed).toEqual(typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text));
    return ended;
  };
}

/** Runs a call like `calling`, in the environment of the tests. */
export const call = calling();

/** Runs a call with `--json`, and returns the single document of its output. */
export async function identityJson(args: readonly string[], options: CommandOptions = {}): Promise<unknown> {
  return parsedOutput(args, await identity([...args, '--json'], options));
}

const resultEvent = z.looseObject({ event: z.literal('result') });

/** Runs a command with `--json`, and returns its exit code and the fields of its last line, the result event. */
export async function identityResult(args: readonly string[], options: CommandOptions = {}) {
  const { code, stdout, stderr } = await identity([...args, '--json'], options);
  const line = stdout.trim().split('\n').at(-1) ?? '';
  expect(line, stderr).toContain('"event":"result"');
  return { code, ...resultEvent.parse(JSON.parse(line)) };
}

/** A stream that stores the text written to it. */
class Captured extends Writable {
  private readonly chunks: Buffer[] = [];
  private readonly onWrite: ((text: string) => void) | undefined;

  constructor(onWrite?: (text: string) => void) {
    super();
    this.onWrite = onWrite;
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.chunks.push(chunk);
    this.onWrite?.(this.text);
    done();
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }
}
