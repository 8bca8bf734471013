import { Readable, Writable } from 'node:stream';
import { runCommandLine } from '../../../cli/commands/commandLine.ts';
import type { HostReply, HostRequest } from './hostedCommand.ts';

// The process behind `hostedCommand.ts`: runs several commands at once.

const running = new Map<number, AbortController>();

process.on('message', (request: HostRequest) => {
  if ('interrupted' in request) running.get(request.id)?.abort();
  else void runHosted(request);
});
process.on('disconnect', () => process.exit());

async function runHosted({ id, args, env }: Extract<HostRequest, { args: unknown }>): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  const code = await runCommandLine(args, {
    stdin: Readable.from([]),
    stdout: outputOf(id, 'stdout'),
    stderr: outputOf(id, 'stderr'),
    environment: { ...process.env, ...env },
    now: new Date(),
    signal: controller.signal,
  });
  running.delete(id);
  reply({ id, code });
}

function outputOf(id: number, stream: 'stdout' | 'stderr'): Writable {
  return new Writable({
    decodeStrings: false,
    write(text, _, done) {
      reply({ id, stream, text: String(text) });
      done();
    },
  });
}

function reply(message: HostReply): void {
  process.send?.(message);
}
