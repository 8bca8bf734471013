import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { junit } from './junit.ts';
import { help, type Options, readOptions } from './options.ts';
import { ending, isFailure, line } from './report.ts';
import { reason } from './runRow.ts';
import { runSession } from './session.ts';

try {
  const options = await readOptions(process.argv.slice(2));
  if (options === undefined) process.stdout.write(help);
  else process.exitCode = await main(options);
} catch (error) {
  process.stderr.write(`${reason(error)}\n`);
  process.exitCode = 1;
}

async function main(options: Options): Promise<number> {
  const [stop, abandon] = [new AbortController(), new AbortController()];
  let code: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      code = 128 + constants.signals[signal];
      if (stop.signal.aborted) abandon.abort();
      stop.abort();
    });
  }
  // A fault that no promise carries must not cost the report of what ran before.
  process.on('uncaughtException', (error) => {
    code = 1;
    process.stderr.write(`${error.stack}\n`);
    stop.abort(error);
  });
  const interrupts = { stop: stop.signal, abandon: abandon.signal };
  const print = (text: string) => process.stdout.write(`${text}\n`);
  const { results, halted, cleaned } = await runSession(options, interrupts, (result) => print(line(result)));
  print(`\n${ending(results, halted, cleaned)}`);
  if (options.junitFile !== undefined) await writeFile(options.junitFile, junit(results, options.reference));
  return code ?? (halted !== undefined || results.some(isFailure) ? 1 : 0);
}
