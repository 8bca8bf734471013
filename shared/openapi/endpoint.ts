import type { z } from 'zod';
import type { JsonSchema } from './jsonSchema.ts';

/** The methods that routes offer. */
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What an operation takes and answers, by the contracts that it runs with. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Whether callers should use another path. */
  readonly deprecated?: boolean;
  /** The parameters of the path, by their names in it; `example` is one that can be tried. */
  readonly parameters?: Readonly<Record<string, { readonly contract: z.ZodType; readonly example: string }>>;
  readonly request?: {
    /** Schemas in its `$defs` become components of the document. */
    readonly schema: JsonSchema;
    /** Bodies that can be sent as they are, by what they do. */
    readonly examples: Readonly<Record<string, object>>;
  };
  readonly response: { readonly description: string; readonly contract: z.ZodType };
  /** HTTP statuses of errors that a caller has to expect, and when. */
  readonly errors: Readonly<Record<number, string>>;
}

/** Where a route is, and what it does there; RPC routes have descriptors of their own, and no operation. */
export interface Endpoint {
  readonly method: Method;
  /** Hono's pattern, such as `/v2/users/:userId/otp_email`. A parameter reaches the handler decoded, `%2F` included. */
  readonly path: string;
  /** Made when asked for: most processes never describe themselves. */
  readonly operation?: () => Operation;
}

/** The errors that every operation has, by HTTP status. */
export const commonErrors: Readonly<Record<number, string>> = {
  401: 'The token is missing, wrong or expired.',
  503: 'The database does not answer, or the process is about to end: send the request again.',
};

/** Those of operations that take a body and a `timeout`, as a service user with the role IAM_OWNER. */
export const commonAdminErrors: Readonly<Record<number, string>> = {
  ...commonErrors,
  403: 'The caller does not have the role IAM_OWNER, or the service account may not reach the object.',
  413: 'The body is too large.',
  501: 'The request names an output or a source of ZITADEL that this service does not have: local files, S3.',
  504: 'The time is over.',
};
