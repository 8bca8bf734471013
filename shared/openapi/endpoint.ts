import type { z } from 'zod';
import type { JsonSchema } from './jsonSchema.ts';

export const tags = {
  Users: 'The authentication methods of users.',
  Organisations: 'Export and import of organisations with all their records.',
  Probes: 'The state of the process and its database. These operations need no token.',
} as const;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/**
 * The description of an operation, for the OpenAPI document. The route of the operation validates requests with the
 * contracts in this description.
 */
export interface OperationDescription {
  readonly operationId: string;
  readonly tag: keyof typeof tags;
  readonly summary: string;
  readonly description: string;
  /** True if the operation is deprecated, because an operation at another path replaces it. */
  readonly deprecated?: boolean;
  readonly isPublic?: boolean;
  readonly parameters?: Readonly<Record<string, { readonly contract: z.ZodType; readonly example: string }>>;
  /**
   * The parameters in the query of the URL. Documentation pages send only the required parameters, unless the user
   * fills in others.
   */
  readonly query?: Readonly<Record<string, z.ZodType>>;
  readonly request?: {
    /** The schema of the request's body. The schemas in its `$defs` become components of the OpenAPI document. */
    readonly schema: JsonSchema;
    /** Maps the summary of each example to the example. */
    readonly examples: Readonly<Record<string, object>>;
    readonly others?: Readonly<Record<string, JsonSchema>>;
  };
  readonly response: ResponseDescription;
  readonly redirect?: ResponseDescription;
  readonly errors: Readonly<Record<number, string>>;
}

export interface ResponseDescription {
  readonly description: string;
  readonly contract: z.ZodType;
  /**
   * Maps each media type other than JSON to the contract of the body. If the body consists of lines, the contract
   * describes one line.
   */
  readonly others?: Readonly<Record<string, z.ZodType>>;
  readonly location?: string;
}

/** A route of the server. RPC routes have no `operation`, because protobuf descriptors already describe the calls. */
export interface Endpoint {
  readonly method: Method;
  /**
   * The path as a pattern of Hono, such as `/v2/users/:userId/otp_email`. Hono decodes the parameters, including `%2F`,
   * before it calls the handler.
   */
  readonly path: string;
  /** A function, so that the description is created only when it is needed. Most processes never need it. */
  readonly operation?: () => OperationDescription;
}

export const commonErrors: Readonly<Record<number, string>> = {
  401: 'The token is missing, wrong or expired.',
  503: 'The database is unavailable, or the process is shutting down: retry the request.',
};

/**
 * The texts of the errors, by HTTP status, for operations that require the role IAM_OWNER and have a body and a
 * `timeout`.
 */
export const commonAdminErrors: Readonly<Record<number, string>> = {
  ...commonErrors,
  403: 'The caller does not hold the role IAM_OWNER, or belongs to an inactive organisation, or the service account has no access to the object.',
  429: 'A self-hosted instance already runs its maximum number of imports or exports: retry after the seconds in `retry-after`.',
  413: 'The body exceeds the size limit.',
  501: 'The request contains an output or a source of ZITADEL that this service does not support: local files, S3.',
  504: 'The timeout expired.',
};
