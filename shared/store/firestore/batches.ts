import type { CancellableStream } from 'google-gax';

/** When a batch is complete. */
export interface BatchLimit<Message> {
  readonly messages: number;
  /** The sum of the messages' sizes. */
  readonly size: number;
  readonly measure: (message: Message) => number;
}

/**
 * Groups the messages of a stream into batches, each as soon as it reaches one of the limits. Backpressure limits it to one
 * batch ahead of the consumer. Cancels the call when the consumer stops. Messages received before an error come first.
 */
export async function* batches<Message>(
  stream: CancellableStream,
  limit: BatchLimit<Message>,
): AsyncGenerator<readonly Message[]> {
  const inbox = gather<Message>(stream, limit);
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
  /** Resolves when a batch is complete or the stream has ended. */
  ready(): Promise<void>;
  take(): readonly Message[];
  /**
   * Whether the stream has ended and all its messages were taken.
   * @throws the stream's error
   */
  isDrained(): boolean;
}

function gather<Message>(stream: CancellableStream, limit: BatchLimit<Message>): Inbox<Message> {
  let messages: Message[] = [];
  let size = 0;
  const isComplete = () => messages.length >= limit.messages || size >= limit.size;
  let end: { readonly error?: unknown } | undefined;
  let wake = () => {};
  const finish = (outcome: NonNullable<typeof end>) => {
    end ??= outcome;
    wake();
  };
  stream.on('data', (message: Message) => {
    messages.push(message);
    size += limit.measure(message);
    if (!isComplete()) return;
    stream.pause();
    wake();
  });
  stream.on('error', (error: unknown) => finish({ error }));
  stream.on('end', () => finish({}));
  return {
    ready: () =>
      new Promise((resolve) => {
        wake = resolve;
        if (isComplete() || end !== undefined) resolve();
      }),
    take: () => {
      const taken = messages;
      messages = [];
      size = 0;
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
