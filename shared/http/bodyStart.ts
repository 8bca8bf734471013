import { setImmediate } from 'node:timers/promises';

/** The beginning of an answer's body, and all of its chunks. */
export interface BodyStart {
  /** The length in bytes where the body is known to be whole; undefined where more may come. */
  readonly length: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Reads an answer's first chunk, before any header is sent, so that a body that fails at once can still become an error answer.
 * A body that is whole already is told apart from one that is still being made, which is not waited for.
 */
export async function readBodyStart(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<BodyStart> {
  const first = await reader.read();
  const second = first.done ? Promise.resolve(first) : reader.read();
  const whole = await Promise.race([second.then(({ done }) => done), setImmediate(false)]);
  // Whoever iterates `chunks` meets the fault; until then it is not unhandled.
  second.catch(() => undefined);
  return { length: whole ? (first.value?.byteLength ?? 0) : undefined, chunks: chain(reader, first, second) };
}

type Result = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

async function* chain(reader: ReadableStreamDefaultReader<Uint8Array>, first: Result, second: Promise<Result>) {
  if (first.done) return;
  yield first.value;
  for (let result = await second; !result.done; result = await reader.read()) yield result.value;
}
