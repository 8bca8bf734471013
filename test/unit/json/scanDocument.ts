import {
  type JsonPath,
  JsonScanner,
  type ScanLimits,
  type ScannedValue,
  type Treatment,
} from '../../../shared/json/jsonScanner.ts';
import type { ValueKind } from '../../../shared/json/valueScanner.ts';

/** Decides for each value whether to descend into it. */
export type Treat = (path: JsonPath, kind: ValueKind) => Treatment;

/** Descends into everything, so that every string and scalar is found. */
export const enterAll: Treat = () => 'enter';

/** Scans a document that arrives in `pieces`, from its first byte to its last. */
export function scanDocument(
  pieces: readonly Uint8Array[],
  treat: Treat,
  { valueBytes = 1_000_000, fields = 1_000 }: Partial<ScanLimits> = {},
): ScannedValue[] {
  const scanner = new JsonScanner(treat, { valueBytes, fields });
  const found = pieces.flatMap((piece) => scanner.push(piece));
  scanner.end();
  return found;
}

/** The document split in two at `position`. */
export function cutAt(bytes: Buffer, position: number): Buffer[] {
  return [bytes.subarray(0, position), bytes.subarray(position)];
}

/** The document in pieces of one byte. */
export function byteByByte(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_byte, index) => bytes.subarray(index, index + 1));
}
