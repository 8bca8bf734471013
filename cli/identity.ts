import { runCommandLine } from './commandLine.ts';

const { stdout, stderr, env: environment } = process;
let isRunning = true;
stdout.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as head, closes the pipe. Of an export it has too little.
  if (code === 'EPIPE' && !(isRunning && process.exitCode === 1)) process.exit();
  stderr.write(
    `identity: standard output cannot be written (${code}): it is incomplete; what the command changed remains\n`,
  );
  process.exit(1);
});
const controller = new AbortController();
// A second signal ends the process as usual.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
process.exitCode = await runCommandLine(process.argv.slice(2), {
  // Opened by the commands that read it.
  get stdin() {
    return process.stdin;
  },
  stdout,
  stderr,
  environment,
  now: new Date(),
  signal: controller.signal,
});
isRunning = false;
