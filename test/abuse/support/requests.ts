import { setImmediate } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Instance } from '../../support/instances/deployments.ts';

/**
 * Repeats small requests, one after the other, until some work has ended.
 * @param ask sends one request, and checks its response
 * @returns the work's result, and the number of responses before its end
 */
export async function askMeanwhile<Result>(
  work: Promise<Result>,
  ask: () => Promise<void>,
): Promise<{ readonly result: Result; readonly answered: number }> {
  let isRunning = true;
  const ended = work.finally(() => {
    isRunning = false;
  });
  // Its error is thrown below.
  ended.catch(() => undefined);
  let answered = 0;
  while (isRunning) {
    await ask();
    if (isRunning) answered++;
    // Without a pause: the work is over sooner on a faster machine, and so are these requests.
    await setImmediate();
  }
  return { result: await ended, answered };
}

/** Sends a body as it is produced, so that the test needs no more memory than the server. */
export async function sendStream(
  { url, token }: Pick<Instance, 'url' | 'token'>,
  path: string,
  parts: Iterable<string | Uint8Array>,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    body: ReadableStream.from(encoded(parts)),
    duplex: 'half',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
  });
  return { status: response.status, text: await response.text() };
}

function* encoded(parts: Iterable<string | Uint8Array>): Generator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part;
}

/** Repeats a text, with a separator, as parts of some size. */
export function* repeated(text: string, times: number, separator = ''): Generator<string> {
  const PER_PART = Math.max(1, Math.floor(1_000_000 / (text.length + separator.length)));
  for (let done = 0; done < times; done += PER_PART) {
    const count = Math.min(PER_PART, times - done);
    yield (done === 0 ? '' : separator) + Array.from({ length: count }, () => text).join(separator);
  }
}

const TAIL_BYTES = 4_096;

/** Exports to the response; returns its size and its end, where the manifest is. */
export async function drainExport({ url, token }: Pick<Instance, 'url' | 'token'>, request: object) {
  const response = await fetch(`${url}/admin/v1/export`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ response_output: true, ...request }),
  });
  expect(response.status).toBe(200);
  let [bytes, tail] = [0, Buffer.alloc(0)];
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
  }
  return { bytes, end: tail.toString() };
}
