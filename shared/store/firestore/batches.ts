import type { CancellableStream } from 'google-gax';

/**
 * Groups the messages of a stream into batches of `size`; the last one may be smaller. Backpressure limits it to one
 * batch ahead of the consumer. Cancels the call when the consumer stops. Messages received before an error come first.
 */
export async function* batches<Message>(stream: CancellableStream, size: number): AsyncGenerator<readonly Message[]> {
  const inbox = gather<Message>(stream, size);
  try {
    for (;;) {
      await inbox.ready();
      const messages = inbox.take();
      if (messages.length > 0) yield messages;
      if (inbox.isDrained()) return;
    }
  } finally {
    stream.cancel();
    stream.destroy();
  }
}

interface Inbox<Message> {
  /** Resolves when `size` messages have arrived or the stream has ended. */
  ready(): Promise<void>;
  take(): readonly Message[];
  /**
   * Whether the stream has ended and all its messages were taken.
   * @throws the stream's error
   */
  isDrained(): boolean;
}

function gather<Message>(stream: CancellableStream, size: number): Inbox<Message> {
  let messages: Message[] = [];
  let end: { readonly error?: unknown } | undefined;
  let wake = () => {};
  const finish = (outcome: NonNullable<typeof end>) => {
    end ??= outcome;
    wake();
  };
  stream.on('data', (message: Message) => {
    messages.push(message);
    if (messages.length < size) return;
    stream.pause();
    wake();
  });
  stream.on('error', (error: unknown) => finish({ error }));
  stream.on('end', () => finish({}));
  return {
    ready: () =>
      new Promise((resolve) => {
        wake = resolve;
        if (messages.length >= size || end !== undefined) resolve();
      }),
    take: () => {
      const taken = messages;
      messages = [];
      stream.resume();
      return taken;
    },
    isDrained: () => {
      if (messages.length > 0 || end === undefined) return false;
      if ('error' in end) throw end.error;
      return true;
    },
  };
}
