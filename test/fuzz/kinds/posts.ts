import fc from 'fast-check';
import { framed } from '../arbitraries/bodies.ts';
import { fewHeaders, usualCaller } from '../arbitraries/headers.ts';
import type { GeneratedRequest } from '../generatedRequest.ts';

/** Returns `POST` requests with some contents, in any coding. */
export function posts(path: string, content: fc.Arbitrary<Buffer | string>): fc.Arbitrary<GeneratedRequest> {
  const body = framed(content.map((bytes) => Buffer.from(bytes)));
  return fc.tuple(usualCaller, fewHeaders, body).map(([caller, headers, { headers: coding, ...rest }]) => ({
    method: 'POST',
    target: path,
    headers: [...caller, ...headers, ...coding],
    ...rest,
  }));
}
