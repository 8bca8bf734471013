// Runs commands in a process that all tests of a worker share, because the start of a process takes longer than most
// commands.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Ended, root } from '../../../tools/program.ts';
import { parsedOutput, withoutTrail } from './programs.ts';

/** A message to the shared process: the start of a command, or its interruption. */
export type HostRequest =
  | { readonly id: number; readonly args: readonly string[]; readonly env: Environment }
  | { readonly id: number; readonly interrupted: true };

/** A message from the shared process: a part of a command's output, or its end. */
export type HostReply =
  | { readonly id: number; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | { readonly id: number; readonly code: number };

type Environment = Readonly<Record<string, string | undefined>>;

/** A running command in the shared process. */
export interface HostedCommand {
  /** The match of the pattern in its standard output. */
  readonly ready: RegExpExecArray;
  /** Interrupts the command like SIGTERM, and waits for its end. */
  stop(): Promise<Ended>;
}

const script = join(root, 'test', 'support', 'processes', 'commandHost.ts');
let host: ChildProcess | undefined;
let lastId = 0;

/** Starts a command in the shared process, and waits until its standard output matches `ready`. */
export async function startHosted(args: readonly string[], env: Environment, ready: RegExp): Promise<HostedCommand> {
  const { output, ended, interrupt } = begin(args, env);
  const match = Promise.withResolvers<RegExpExecArray>();
  output.onText = () => {
    const found = ready.exec(output.stdout);
    if (found !== null) match.resolve(found);
  };
  ended.then(({ code, stdout, stderr }) => {
    match.reject(new Error(`identity ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`));
  }, match.reject);
  const stop = () => {
    interrupt();
    return ended;
  };
  return { ready: await match.promise, stop };
}

/** Runs a command with `--json` in the shared process, and returns the single document of its output. */
export async function hostedJson(args: readonly string[]): Promise<unknown> {
  return parsedOutput(args, withoutTrail(await begin([...args, '--json'], {}).ended));
}

function begin(args: readonly string[], env: Environment) {
  const id = ++lastId;
  host ??= startHost();
  const child = host;
  const output = { stdout: '', stderr: '', onText: () => {} };
  const end = Promise.withResolvers<Ended>();
  const receive = (reply: HostReply) => {
    if (reply.id !== id) return;
    if ('code' in reply) {
      end.resolve({ code: reply.code, stdout: output.stdout, stderr: output.stderr });
      return;
    }
    output[reply.stream] += reply.text;
    output.onText();
  };
  const fail = () => end.reject(new Error(`the process of identity ${args.join(' ')} ended:\n${output.stderr}`));
  child.on('message', receive).on('exit', fail);
  const forget = () => void child.off('message', receive).off('exit', fail);
  end.promise.then(forget, forget);
  const send = (request: HostRequest) => void child.send(request);
  send({ id, args, env });
  return { output, ended: end.promise, interrupt: () => send({ id, interrupted: true }) };
}

/** Starts the shared process. It ends with this process. */
function startHost(): ChildProcess {
  const child = fork(script, { cwd: root, serialization: 'advanced' });
  child.setMaxListeners(0);
  void once(child, 'exit').then(() => {
    host = undefined;
  });
  child.unref();
  child.channel?.unref();
  return child;
}
