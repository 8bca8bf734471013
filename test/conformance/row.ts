/**
 * Who sends a request: the service user with IAM_OWNER that runs the suite, or one of the users that the suite imports.
 * `viewer` has a membership that allows nothing here, `nobody` has none at all. Only `person` is no service user.
 */
export type Role = 'owner' | 'orgOwner' | 'viewer' | 'nobody' | 'person' | 'inactive' | 'expired';

/** What a server is measured against: a real ZITADEL, or this service. */
export type Reference = 'zitadel' | 'ours';

/**
 * What a row states: `documented` holds for ZITADEL and for this service, `zitadel` and `ours` for one of them alone.
 */
type Feature = 'documented' | Reference;

/** A request as it is put on the wire; without `role` and `authorization` it has no Authorization header. */
export interface RowRequest {
  readonly method: string;
  readonly path: string;
  readonly role?: Role;
  /** The whole Authorization header, made of the IAM_OWNER's token. */
  readonly authorization?: (token: string) => string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** What an answer's body must be. */
export type ExpectedBody =
  /** Equal to this JSON, besides what the interface or this service adds (see `withoutAdditions`). */
  | { readonly kind: 'equals'; readonly json: unknown }
  /** JSON that has at least this: objects may have more fields, but none that is `undefined` here; lists have exactly these
   * entries; a pattern stands for a string. */
  | { readonly kind: 'includes'; readonly json: unknown }
  /** The interface's error body (specification 2.3), with this code, and a message like this. */
  | { readonly kind: 'error'; readonly code: number; readonly message: RegExp }
  | { readonly kind: 'text'; readonly text: string };

/** What must come back. */
export interface Expected {
  readonly status: number;
  readonly body: ExpectedBody;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request and its answer. */
export interface Step {
  readonly request: RowRequest;
  readonly expected: Expected;
  /** Whether the response shows earlier writes: ZITADEL's projections may follow them later. */
  readonly follows?: boolean;
}

/** One row of the table; most have one step, those about an effect have a second one that looks at it. */
export interface Row {
  readonly name: string;
  /** Where the statement stands: a section of docs/specification.md or docs/zitadel.md, or the recording. */
  readonly origin: string;
  readonly feature: Feature;
  readonly steps: readonly Step[];
  /** Why the answer is meant to be another than ZITADEL's. */
  readonly decision?: string;
  /** Why the row cannot be run from outside. */
  readonly setup?: string;
  /** Whether only the stand-in has passed the row so far, and no running ZITADEL. */
  readonly isUntried?: boolean;
  /** What the request is known to do to a server; such rows run after all others. */
  readonly danger?: string;
}
