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

/** The description of an operation. It contains the contracts with which the operation's route validates. */
export interface OperationDescription {
  readonly operationId: string;
  /** The group of the operation in documentation pages and generated clients. */
  readonly tag: keyof typeof tags;
  readonly summary: string;
  readonly description: string;
  /** Whether another path replaces this operation. */
  readonly deprecated?: boolean;
  /** Whether the operation requires no token. */
  readonly isPublic?: boolean;
  /** The path's parameters by name, each with a valid example. */
  readonly parameters?: Readonly<Record<string, { readonly contract: z.ZodType; readonly example: string }>>;
  /** The contracts of the query's parameters, by name. Documentation pages omit optional parameters in calls. */
  readonly query?: Readonly<Record<string, z.ZodType>>;
  readonly request?: {
    /** The schema of a JSON body. Schemas in `$defs` become components of the OpenAPI document. */
    readonly schema: JsonSchema;
    /** Complete request bodies, by their summaries. */
    readonly examples: Readonly<Record<string, object>>;
    /** The schemas of bodies in media types other than JSON, by media type. */
    readonly others?: Readonly<Record<string, JsonSchema>>;
  };
  readonly response: ResponseDescription;
  /** A response that redirects to the result. */
  readonly redirect?: ResponseDescription;
  /** Descriptions of the expected errors, by HTTP status. */
  readonly errors: Readonly<Record<number, string>>;
}

/** The description of a successful response. */
export interface ResponseDescription {
  readonly description: string;
  readonly contract: z.ZodType;
  /**
   * The contracts of media types other than JSON, by media type. For a body of lines, the contract describes a line.
   */
  readonly others?: Readonly<Record<string, z.ZodType>>;
  /** The description of the header `location`. */
  readonly location?: string;
}

/** A route's method, path and operation. RPC routes have their own descriptors, and no operation. */
export interface Endpoint {
  readonly method: Method;
  /**
   * Hono's pattern, such as `/v2/users/:userId/otp_email`. The handler receives decoded parameters, including `%2F`.
   */
  readonly path: string;
  /** Creates the description on demand: most processes never need it. */
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
  403: 'The caller does not hold the role IAM_OWNER, or belongs to an inactive organisation, or the service account has no access to the object.',
  429: 'A self-hosted instance already runs its maximum number of imports or exports: retry after the seconds in `retry-after`.',
  413: 'The body exceeds the size limit.',
  501: 'The request contains an output or a source of ZITADEL that this service does not support: local files, S3.',
  504: 'The timeout expired.',
};
