import { runCommandLine } from './commandLine.ts';

// A reader that has seen enough, such as head, closes the pipe.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
const { stdout, stderr, env: environment } = process;
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
