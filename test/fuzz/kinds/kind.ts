import fc from 'fast-check';
import { framed } from '../arbitraries/bodies.ts';
import { fewHeaders, usualCaller } from '../arbitraries/headers.ts';
import { OWNER } from '../http/httpRequest.ts';
import type { FuzzCase } from '../support/fuzzCase.ts';

/** One sort of generated requests to a function. */
export interface Kind {
  readonly name: string;
  /** The share of the function's requests. */
  readonly weight: number;
  readonly cases: fc.Arbitrary<FuzzCase>;
  /** A status that some of the requests must get, since without it the generator reaches nothing. */
  readonly reaches: readonly string[];
}

/** What is known about the instance that requests are made for. */
export interface Known {
  /** An export file of the instance, with its manifest. */
  readonly exported: unknown;
  /** Users who have the OTP e-mail factor at the beginning. */
  readonly userIds: readonly string[];
  /** Service accounts' key files that open the bucket `exports`, and that do not. */
  readonly keyFiles: readonly string[];
}

/** The header of a caller who may do anything. */
export const owner = ['Authorization', `Bearer ${OWNER}`] as const;

/** Returns `POST` requests of some contents, in any coding and framing. */
export function posts(path: string, content: fc.Arbitrary<Buffer | string>): fc.Arbitrary<FuzzCase> {
  const body = framed(content.map((bytes) => Buffer.from(bytes)));
  return fc.tuple(usualCaller, fewHeaders, body).map(([caller, headers, { headers: coding, ...rest }]) => ({
    way: 'kept',
    request: { method: 'POST', target: path, headers: [...caller, ...headers, ...coding], ...rest },
  }));
}
