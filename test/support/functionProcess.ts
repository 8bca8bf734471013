import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** A function run by the framework's own command, in a process of its own. */
export interface FunctionProcess {
  readonly child: ChildProcess;
  /** Everything that it has written so far. */
  readonly output: () => string;
  /** Resolves when `text` was written; rejects when the process ends without it. */
  written(text: string): Promise<void>;
  /** Resolves with the exit code, or the signal that ended the process. */
  readonly exited: Promise<number | string>;
}

/** Starts `functions-framework` for one module, on a free port that the log line `listening` names. */
export function startFunction(source: string, target: string, env: Record<string, string>): FunctionProcess {
  const framework = dirname(createRequire(import.meta.url).resolve('@google-cloud/functions-framework'));
  const args = [join(framework, 'main.js'), `--source=${source}`, `--target=${target}`, '--port=0'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
      child.emit('output');
    });
  }
  const exited = once(child, 'close').then(([code, signal]): number | string => code ?? signal);
  const written = async (text: string) => {
    while (!output.includes(text)) {
      const ended = await Promise.race([once(child, 'output').then(() => false), exited.then(() => true)]);
      if (ended && !output.includes(text)) throw new Error(`the function ended without "${text}":\n${output}`);
    }
  };
  return { child, output: () => output, written, exited };
}

/** The base URL of a function that has started. */
export async function functionUrl(started: FunctionProcess): Promise<string> {
  await started.written('"listening"');
  const [, port] = /"url":"http:[^"]*:(\d+)"/.exec(started.output()) ?? [];
  return `http://127.0.0.1:${port}`;
}
