import { runCommandLine } from './commands/commandLine.ts';
import { exitCodes } from './terminal/command.ts';
import { DEFAULT_COLUMNS, DEFAULT_ROWS } from './terminal/terminal.ts';

const { stdout, stderr, env: environment } = process;
// A terminal of unknown size reports 0 columns and rows, for which no layout is possible.
for (const stream of [stdout, stderr]) {
  if (stream.columns === 0) stream.columns = DEFAULT_COLUMNS;
  if (stream.rows === 0) stream.rows = DEFAULT_ROWS;
}
let broken: string | undefined;
// Keep running when stdout is closed (EPIPE), because the command may be changing something. Lists and exports end with
// the error.
stdout.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
  broken ??= code;
});
const controller = new AbortController();
// A second signal ends the process immediately.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
let isHungUp = false;
// A terminal that closes may send the signal several times. Writing to that terminal fails.
process.on('SIGHUP', () => {
  isHungUp = true;
  stderr.on('error', () => {});
  controller.abort();
});
const code = await runCommandLine(process.argv.slice(2), {
  // Only commands that read standard input open it.
  get stdin() {
    return process.stdin;
  },
  stdout,
  stderr,
  environment,
  now: new Date(),
  signal: controller.signal,
});
process.exitCode = isHungUp && code === exitCodes.interrupted.code ? exitCodes.hungUp.code : code;
await new Promise((resolve) => stdout.write('', resolve));
// A program such as head closes the pipe when it has read enough.
if (broken !== undefined && broken !== 'EPIPE' && process.exitCode === 0) {
  const { outputIncomplete } = await import('../shared/errors/placeErrors.ts');
  stderr.write(`identity: ${outputIncomplete({ code: broken }).message}\n`);
  process.exitCode = 1;
}
