import type { CancellableStream } from 'google-gax';

/**
 * The messages of a stream in arrays of `size`, the last one shorter. While one is being worked on, the next is gathered
 * and no more than that; the call ends when the consumer stops. What arrived before an error comes before it.
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
  /** Resolves when there are `size` messages or no more will come. */
  ready(): Promise<void>;
  take(): readonly Message[];
  /** @throws what the stream failed with */
  isDrained(): boolean;
}

function gather<Message>(stream: CancellableStream, size: number): Inbox<Message> {
  let messages: Message[] = [];
  let end: { readonly failure?: unknown } | undefined;
  let wake = () => {};
  const finish = (reached: NonNullable<typeof end>) => {
    end ??= reached;
    wake();
  };
  stream.on('data', (message: Message) => {
    messages.push(message);
    if (messages.length < size) return;
    stream.pause();
    wake();
  });
  stream.on('error', (failure: unknown) => finish({ failure }));
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
      if ('failure' in end) throw end.failure;
      return true;
    },
  };
}
