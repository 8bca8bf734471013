import { z } from 'zod';
import { withoutEmpty } from '../defined.ts';
import {
  type IssueParams,
  type IssueRow,
  issueParams,
  issueText,
  type ParametersOf,
  type Reader,
} from './issueText.ts';

export const codes = {
  CANCELLED: { number: 1, httpStatus: 499 },
  UNKNOWN: { number: 2, httpStatus: 500 },
  INVALID_ARGUMENT: { number: 3, httpStatus: 400 },
  DEADLINE_EXCEEDED: { number: 4, httpStatus: 504 },
  NOT_FOUND: { number: 5, httpStatus: 404 },
  ALREADY_EXISTS: { number: 6, httpStatus: 409 },
  PERMISSION_DENIED: { number: 7, httpStatus: 403 },
  RESOURCE_EXHAUSTED: { number: 8, httpStatus: 429 },
  FAILED_PRECONDITION: { number: 9, httpStatus: 400 },
  ABORTED: { number: 10, httpStatus: 409 },
  UNIMPLEMENTED: { number: 12, httpStatus: 501 },
  INTERNAL: { number: 13, httpStatus: 500 },
  UNAVAILABLE: { number: 14, httpStatus: 503 },
  UNAUTHENTICATED: { number: 16, httpStatus: 401 },
} as const;

export type Code = keyof typeof codes;

const numbers = Object.entries(codes).map(([name, { number }]) => `${number} ${name}`);

/** The error body of the interface (specification 2.3, zitadel 6.4). */
export const errorBody = z
  .strictObject({
    code: z.int32().meta({ description: `A gRPC status code: ${numbers.join(', ')}.` }),
    message: z.string(),
    details: z
      .array(z.looseObject({ '@type': z.string() }))
      .readonly()
      .optional()
      .meta({
        description:
          'Omitted if empty. `@type` is the type of the entry. The last entry of an error of this service is a `google.rpc.ErrorInfo`, whose `reason` never changes.',
      }),
  })
  .readonly()
  .meta({ id: 'Error', description: 'The problem, and where to correct the request.' });

export type ErrorBody = z.output<typeof errorBody>;

export type ErrorDetail = NonNullable<ErrorBody['details']>[number];

const DOMAIN = 'identity';
const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';

interface ErrorFacts {
  /** ZITADEL's id of the same error; absent if ZITADEL has no such error. */
  readonly id?: string;
  /** True if ZITADEL has an error with this text, but without an id. */
  readonly isZitadels?: boolean;
  /**
   * True if the details also contain the error's name, in addition to ZITADEL's id. Set this if several errors have the
   * same ZITADEL id.
   */
  readonly isNamed?: boolean;
  /** True if the details also contain the text, as a violation of the request body. */
  readonly isViolation?: boolean;
  /** The HTTP status, such as 413, if the status of `code` is not specific enough. */
  readonly httpStatus?: number;
  readonly retryAfterSeconds?: number;
}

/** Properties of a single occurrence of an error. The log contains `cause`; no response does. */
interface Circumstances {
  readonly details?: readonly ErrorDetail[] | undefined;
  readonly option?: string | undefined;
  /** A sentence that follows the remedy, such as a consequence of the error. */
  readonly note?: string | undefined;
  /**
   * The seconds after which a retry is permitted, if another server has set this time. If absent, the value for this
   * kind of error applies.
   */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

interface ErrorParts extends ErrorFacts, IssueRow, Circumstances {
  readonly code: Code;
  readonly reason?: string;
  readonly params?: IssueParams;
}

export function badRequest(fieldViolations: readonly { readonly field: string; readonly description: string }[]) {
  return { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations } satisfies ErrorDetail;
}

/**
 * Returns the detail with the delay before a retry. An error within a stream of events needs this detail, because the
 * error is then a line of the body and cannot set the header `Retry-After`.
 */
export function retryInfo(seconds: number) {
  return { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` } satisfies ErrorDetail;
}

/**
 * The only error class that reaches callers; `toJson` renders it. Define a new kind of error with `defineError`, not as
 * a class.
 */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
  readonly code: Code;
  readonly reason: string | undefined;
  readonly params: IssueParams;
  /** The message without the remedy and without ZITADEL's id. */
  readonly text: string;
  readonly httpStatus: number;
  readonly retryAfterSeconds: number | undefined;
  readonly option: string | undefined;
  readonly note: string | undefined;
  /**
   * An error with an id in ZITADEL has an `ErrorDetail` as its first detail. An error that ZITADEL does not have, or
   * with `isNamed`, has an `ErrorInfo` as its last detail.
   */
  readonly details: readonly ErrorDetail[];
  private readonly parts: ErrorParts;

  constructor(parts: ErrorParts) {
    const { code, reason, params = {}, id, details = [] } = parts;
    const text = issueText({ text: parts.text }, params, 'http');
    super(messageOf(parts, params, 'http'), { cause: parts.cause });
    this.parts = parts;
    this.code = code;
    this.reason = reason;
    this.params = params;
    this.text = text;
    this.httpStatus = parts.httpStatus ?? codes[code].httpStatus;
    this.retryAfterSeconds = parts.retryAfterSeconds;
    this.option = parts.option;
    this.note = parts.note;
    const { isNamed = id === undefined && parts.isZitadels !== true } = parts;
    const metadata = Object.keys(params).length === 0 ? {} : { metadata: params };
    this.details = [
      ...(id === undefined ? [] : [{ '@type': 'type.googleapis.com/zitadel.v1.ErrorDetail', id, message: text }]),
      ...(parts.isViolation === true ? [badRequest([{ field: '', description: text }])] : []),
      ...details,
      ...(isNamed && reason !== undefined ? [{ '@type': ERROR_INFO, reason, domain: DOMAIN, ...metadata }] : []),
    ];
  }

  /**
   * The message for a user of the `identity` command. The remedy in this message contains options of the command
   * instead of fields of a request.
   */
  get commandMessage(): string {
    return messageOf(this.parts, this.params, 'command');
  }

  /**
   * Converts a thrown value to an error that callers may receive. Converts an unexpected error to INTERNAL without its
   * text.
   */
  static from(reason: unknown): IdentityError {
    return reason instanceof IdentityError ? reason : internalError({}, { cause: reason });
  }

  withDetail(detail: ErrorDetail): IdentityError {
    return new IdentityError({ ...this.parts, details: [...(this.parts.details ?? []), detail] });
  }

  withParams(params: IssueParams): IdentityError {
    return new IdentityError({ ...this.parts, params: { ...this.params, ...params } });
  }

  withNote(note: string): IdentityError {
    return new IdentityError({ ...this.parts, note });
  }

  /** Returns the error body. Omits `details` if they are empty, as ZITADEL does (specification 2.3, zitadel 6.4). */
  toJson(): ErrorBody {
    const { code, message, details } = this;
    return { code: codes[code].number, message, ...withoutEmpty({ details }) };
  }
}

export function hasCode(error: unknown, ...codes: readonly Code[]): error is IdentityError {
  return error instanceof IdentityError && codes.includes(error.code);
}

function messageOf(
  { id, note, ...row }: Pick<ErrorParts, 'text' | 'remedy' | 'id' | 'note'>,
  params: IssueParams,
  reader: Reader,
): string {
  return (
    issueText(row, params, reader) + (id === undefined ? '' : ` (${id})`) + (note === undefined ? '' : `; ${note}`)
  );
}

export interface ErrorRow extends ErrorFacts, IssueRow, Required<Pick<ErrorParts, 'code' | 'reason'>> {}

/**
 * The arguments of an error factory. A caller may omit the object with the text's parameters if all of them are
 * optional.
 */
type Arguments<Row extends IssueRow> =
  Record<never, never> extends ParametersOf<Row>
    ? [params?: ParametersOf<Row>, circumstances?: Circumstances]
    : [params: ParametersOf<Row>, circumstances?: Circumstances];

/** A function that creates errors of one kind. The error table in the documentation is generated from `row`. */
export interface ErrorFactory<Row extends IssueRow = IssueRow, Reason extends string = string> {
  (...[params, circumstances]: Arguments<Row>): IdentityError;
  readonly row: ErrorRow & { readonly reason: Reason };
  /**
   * Returns whether a value is an error of this kind, or has such an error as its cause. The cause may be an error that
   * another instance sent.
   */
  readonly is: (value: unknown) => value is IdentityError;
}

/**
 * Returns whether a value that a module exports is an error factory. The modules that define errors also export other
 * functions.
 */
export function isErrorFactory(value: unknown): value is ErrorFactory {
  return typeof value === 'function' && 'row' in value;
}

/**
 * Defines a row of the error table, and returns the factory that throw sites call.
 * @param reason the error's name. Never change it, because clients may depend on it
 * @example
 *     export const fileExists = defineError('ALREADY_EXISTS', 'BACKUP_EXISTS', {
 *       text: '{file} exists: choose another name',
 *     });
 *     throw fileExists({ file: 'north.backup' });
 */
export function defineError<Reason extends string, const Row extends IssueRow>(
  code: Code,
  reason: Reason,
  definition: Row & ErrorFacts,
): ErrorFactory<Row, Reason> {
  const row = { ...definition, code, reason };
  const create = (...[params, circumstances]: Arguments<Row>) =>
    new IdentityError({ ...row, params: issueParams(params ?? {}), ...circumstances });
  const is = (value: unknown): value is IdentityError =>
    value instanceof IdentityError && (value.reason === reason || reasonOf(value.cause) === reason);
  return Object.assign(create, { row, is });
}

/**
 * Returns the name of an error. The value may also be an error body that another instance sent. Returns undefined for
 * other values.
 */
export function reasonOf(value: unknown): unknown {
  if (value instanceof IdentityError) return value.reason;
  return infoIn(errorBody.safeParse(value).data?.details ?? [])?.reason;
}

const errorInfo = z.looseObject({
  '@type': z.literal(ERROR_INFO),
  reason: z.string(),
  domain: z.literal(DOMAIN),
  metadata: z.record(z.string(), z.string()).default({}),
});

/**
 * Returns the name and the parameters of an error that another instance sent. Returns undefined if the details lack
 * them.
 */
export function infoIn(details: readonly unknown[]): { reason: string; metadata: IssueParams } | undefined {
  return details.map((detail) => errorInfo.safeParse(detail).data).find((data) => data !== undefined);
}

export const REPEAT_COMMAND = 'repeat the command';

/** Remedies: `RETRY` for failures that end soon, `RETRY_LATER` for longer failures. */
export const RETRY = { http: 'retry the request', command: REPEAT_COMMAND } as const;
export const RETRY_LATER = { http: 'retry the request later', command: REPEAT_COMMAND } as const;

export const internalError = defineError('INTERNAL', 'INTERNAL_ERROR', {
  text: 'An internal error occurred',
});

/** The maximum number of characters to quote from a request, because a text in a request can be megabytes long. */
const MAX_QUOTED_CHARACTERS = 200;

export function shortenedText(text: string, characters = MAX_QUOTED_CHARACTERS): string {
  return text.length <= characters ? text : `${text.slice(0, characters).toWellFormed()}...`;
}
