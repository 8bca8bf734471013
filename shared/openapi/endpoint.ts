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
  /** Loaded when it is asked for: most processes never are, and their start would wait for it. */
  readonly operation?: () => Promise<Operation>;
}
