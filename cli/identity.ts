import { runCommandLine } from './commands/commandLine.ts';
import { exitCodes } from './terminal/command.ts';
import { DEFAULT_COLUMNS, DEFAULT_ROWS } from './terminal/terminal.ts';

const { stdout, stderr, env: environment } = process;
// A terminal that does not know its size reports 0 columns and 0 rows. Text cannot be laid out for that size.
for (const stream of [stdout, stderr]) {
  if (stream.columns === 0) stream.columns = DEFAULT_COLUMNS;
  if (stream.rows === 0) stream.rows = DEFAULT_ROWS;
}
let broken: string | undefined;
// The command continues if a reader closes stdout (EPIPE), because the command may be changing data. Lists and exports
// fail with this error.
stdout.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
  broken ??= code;
});
const controller = new AbortController();
// Node's default applies after the first signal: a second signal ends the process immediately.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
let isHungUp = false;
// A terminal that is being closed may send SIGHUP several times, and writing to it fails. So this handler stays
// installed, and ignores errors of stderr.
process.on('SIGHUP', () => {
  isHungUp = true;
  stderr.on('error', () => {});
  controller.abort();
});
const code = await runCommandLine(process.argv.slice(2), {
  // The stream is opened when `process.stdin` is read. So commands that do not need standard input leave it closed.
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
// A reader such as `head` closes the pipe early on purpose (EPIPE). This is not a failure.
if (broken !== undefined && broken !== 'EPIPE' && process.exitCode === 0) {
  const { outputIncomplete } = await import('../shared/errors/placeErrors.ts');
  stderr.write(`identity: ${outputIncomplete({ code: broken }).message}\n`);
  process.exitCode = 1;
}
