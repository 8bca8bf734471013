import { JsonError } from '../../../shared/json/jsonError.ts';
import { JsonSplitter, type SplitLimits, type SplitValue, type Treat } from '../../../shared/json/splitter.ts';

/** Enters every object and list. */
export const enterAll: Treat = () => 'enter';

/** Keeps the values at a depth and below. */
export function keepAt(depth: number): Treat {
  return ({ length }) => (length < depth ? 'enter' : 'keep');
}

/** Splits a document that arrives in pieces. */
export function splitDocument(
  pieces: readonly Uint8Array[],
  treat: Treat,
  { valueBytes = 1_000_000, fields = 1_000 }: Partial<SplitLimits> = {},
): SplitValue[] {
  const splitter = new JsonSplitter(treat, { valueBytes, fields });
  const found = pieces.flatMap((piece) => splitter.push(piece));
  splitter.end();
  return found;
}

/** Runs work that must throw a JsonError, and returns the error. */
export function errorOf(work: () => unknown): JsonError {
  try {
    work();
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
  throw new Error('no error was thrown');
}

/** Splits bytes in two at a position. */
export function cutAt(bytes: Buffer, position: number): Buffer[] {
  return [bytes.subarray(0, position), bytes.subarray(position)];
}

/** Splits bytes into pieces of one byte. */
export function byteByByte(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_byte, index) => bytes.subarray(index, index + 1));
}
