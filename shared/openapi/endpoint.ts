// The description of an endpoint for the OpenAPI document.

import type { z } from 'zod';
import type { JsonSchema } from './jsonSchema.ts';

/** The groups of operations, with their descriptions. */
export const tags = {
  Users: 'The authentication methods of users.',
  Organisations: 'Export and import of organisations with all their records.',
  Probes: 'The state of the process and its database, without a token.',
} as const;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** The description of an operation, based on the contracts that its route validates with. */
export interface OperationDescription {
  readonly operationId: string;
  /** The group that pages and generated clients put it in. */
  readonly tag: keyof typeof tags;
  readonly summary: string;
  readonly description: string;
  /** Whether another path replaces this operation. */
  readonly deprecated?: boolean;
  /** Whether it needs no token. */
  readonly isPublic?: boolean;
  /** The path's parameters, by name, each with a working value. */
  readonly parameters?: Readonly<Record<string, { readonly contract: z.ZodType; readonly example: string }>>;
  /** The contracts of the query's parameters, by name. Pages that try operations leave the optional ones empty. */
  readonly query?: Readonly<Record<string, z.ZodType>>;
  readonly request?: {
    /** Schemas in its `$defs` become components of the OpenAPI document. */
    readonly schema: JsonSchema;
    /** Complete request bodies, by their summaries. */
    readonly examples: Readonly<Record<string, object>>;
    /** The schemas of bodies of other media types than JSON, by media type. */
    readonly others?: Readonly<Record<string, JsonSchema>>;
  };
  readonly response: ResponseDescription;
  /** The response that redirects to the result. */
  readonly redirect?: ResponseDescription;
  /** Descriptions of the expected errors, by HTTP status. */
  readonly errors: Readonly<Record<number, string>>;
}

/** The description of a response that is no error. */
export interface ResponseDescription {
  readonly description: string;
  readonly contract: z.ZodType;
  /** The contracts of other media types than JSON, by media type: of one line, where a body has lines. */
  readonly others?: Readonly<Record<string, z.ZodType>>;
  /** The description of the header `location`. */
  readonly location?: string;
}

/** A route's method, path and operation. RPC routes have descriptors of their own, and no operation. */
export interface Endpoint {
  readonly method: Method;
  /** Hono's pattern, such as `/v2/users/:userId/otp_email`. A parameter reaches the handler decoded, `%2F` included. */
  readonly path: string;
  /** Creates the description on demand: most processes never serve it. */
  readonly operation?: () => OperationDescription;
}

/** The errors of every operation, by HTTP status. */
export const commonErrors: Readonly<Record<number, string>> = {
  401: 'The token is missing, wrong or expired.',
  503: 'The database is unavailable, or the process is shutting down: retry the request.',
};

/** The errors of operations with a body and a `timeout`, for a service user with the role IAM_OWNER. */
export const commonAdminErrors: Readonly<Record<number, string>> = {
  ...commonErrors,
  403: 'The caller does not hold the role IAM_OWNER or is of an inactive organisation, or the service account may not access the object.',
  429: 'As many imports or exports are running as a self-hosted instance allows: retry after the seconds in `retry-after`.',
  413: 'The body exceeds the size limit.',
  501: "The request names one of ZITADEL's outputs or sources that this service does not support: local files, S3.",
  504: 'The timeout expired.',
};
