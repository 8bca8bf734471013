import type fc from 'fast-check';

/** Stands for the owner's token until a request is sent, so that a printed request does not contain it. */
export const OWNER = '{owner}';

/** A generated request: valid HTTP with any content. */
export interface GeneratedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer;
  /** The body before compression. */
  readonly plain?: Buffer;
  /** Whether the request is sent over HTTP/2. */
  readonly isHttp2?: boolean;
}

/** A kind of generated requests to a function. */
export interface Kind {
  readonly name: string;
  /** The share of the function's requests. */
  readonly weight: number;
  readonly requests: fc.Arbitrary<GeneratedRequest>;
  /** Statuses that some of the requests must get: without them the generator would not reach the code behind them. */
  readonly reaches: readonly string[];
}

/** The content of the instance that receives the requests. */
export interface Known {
  /** An export file of the instance, with its manifest. */
  readonly exported: unknown;
  /** Users who have the OTP e-mail factor at first. */
  readonly userIds: readonly string[];
}
