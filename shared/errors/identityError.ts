// Defines the errors that callers receive: their class, their codes, and the kinds of errors.

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

/** The gRPC status codes of this service, with their HTTP statuses. */
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

/** The name of a gRPC status code. */
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
          'Omitted when empty; `@type` names the type of each. The last entry of this service’s errors is a `google.rpc.ErrorInfo`, whose `reason` never changes.',
      }),
  })
  .readonly()
  .meta({ id: 'Error', description: 'The problem, and where to correct the request.' });

/** A rendered error. */
export type ErrorBody = z.output<typeof errorBody>;

/** One entry of an error body's `details`. */
export type ErrorDetail = NonNullable<ErrorBody['details']>[number];

/** The `domain` of errors that this service defines. */
const DOMAIN = 'identity';
const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';

/** The properties of an error that do not depend on its parameters. */
interface ErrorFacts {
  /** The id that ZITADEL uses for the error. */
  readonly id?: string;
  /** Whether the text is ZITADEL's. Needed only for an error that has no id in ZITADEL. */
  readonly isZitadels?: boolean;
  /** Whether the response contains `reason` in addition to ZITADEL's id, because several errors share this id. */
  readonly isNamed?: boolean;
  /** Whether the details also list the text as a violation in the request's body. */
  readonly isViolation?: boolean;
  /** An HTTP status that is more specific than the status of `code`, such as 413. */
  readonly httpStatus?: number;
  /** The seconds after which a retry may succeed. */
  readonly retryAfterSeconds?: number;
}

/** Optional parts of a single error. Only the log contains `cause`. */
interface Circumstances {
  readonly details?: readonly ErrorDetail[] | undefined;
  /** The option of the command to which the error refers. */
  readonly option?: string | undefined;
  /** A sentence after the remedy, about a consequence of the error. */
  readonly note?: string | undefined;
  /** The seconds after which the called server permits a retry. By default, the value of the error's definition. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** The definition, the parameters and the optional parts of an error. */
interface ErrorParts extends ErrorFacts, IssueRow, Circumstances {
  readonly code: Code;
  /** The error's name. It never changes. */
  readonly reason?: string;
  readonly params?: IssueParams;
}

/** Returns the detail that lists invalid fields. */
export function badRequest(fieldViolations: readonly { readonly field: string; readonly description: string }[]) {
  return { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations } satisfies ErrorDetail;
}

/**
 * Returns the detail with the delay before a retry. Errors in a stream of events need this detail, because events have
 * no header `Retry-After`.
 */
export function retryInfo(seconds: number) {
  return { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` } satisfies ErrorDetail;
}

/** The only error class that reaches callers; `toJson` renders it. A new kind of error is a definition, not a class. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
  readonly code: Code;
  readonly reason: string | undefined;
  readonly params: IssueParams;
  /** The message without its id and remedy. */
  readonly text: string;
  readonly httpStatus: number;
  readonly retryAfterSeconds: number | undefined;
  readonly option: string | undefined;
  readonly note: string | undefined;
  /** ZITADEL's errors begin with an `ErrorDetail`; errors of this service end with an `ErrorInfo`. */
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
   * The message for the user of the command. Its remedy refers to options of the command instead of fields of a
   * request.
   */
  get commandMessage(): string {
    return messageOf(this.parts, this.params, 'command');
  }

  /**
   * Converts any thrown value to an error that callers may receive. An unknown error becomes INTERNAL, without its
   * text.
   */
  static from(reason: unknown): IdentityError {
    return reason instanceof IdentityError ? reason : internalError({}, { cause: reason });
  }

  /** Returns a copy of this error with a further detail. */
  withDetail(detail: ErrorDetail): IdentityError {
    return new IdentityError({ ...this.parts, details: [...(this.parts.details ?? []), detail] });
  }

  /** Returns a copy of this error with further parameters. */
  withParams(params: IssueParams): IdentityError {
    return new IdentityError({ ...this.parts, params: { ...this.params, ...params } });
  }

  /** Returns a copy of this error with a sentence after its remedy. */
  withNote(note: string): IdentityError {
    return new IdentityError({ ...this.parts, note });
  }

  /**
   * Renders the interface's error body (specification 2.3). Empty `details` are omitted, as in ZITADEL (zitadel 6.4).
   */
  toJson(): ErrorBody {
    const { code, message, details } = this;
    return { code: codes[code].number, message, ...withoutEmpty({ details }) };
  }
}

/** Whether a thrown value is an `IdentityError` with one of the codes. */
export function hasCode(error: unknown, ...some: readonly Code[]): error is IdentityError {
  return error instanceof IdentityError && some.includes(error.code);
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

/** A row of the documented error table. */
export interface ErrorRow extends ErrorFacts, IssueRow, Required<Pick<ErrorParts, 'code' | 'reason'>> {}

/** The arguments of a factory. The caller may omit the parameters if all are optional. */
type Arguments<Row extends IssueRow> =
  Record<never, never> extends ParametersOf<Row>
    ? [params?: ParametersOf<Row>, circumstances?: Circumstances]
    : [params: ParametersOf<Row>, circumstances?: Circumstances];

/** Creates errors of one kind; `row` documents them. */
export interface ErrorFactory<Row extends IssueRow = IssueRow, Reason extends string = string> {
  (...[params, circumstances]: Arguments<Row>): IdentityError;
  readonly row: ErrorRow & { readonly reason: Reason };
  /**
   * Whether a value is an error of this kind, or has such an error as its cause. The cause may be an error body that
   * another instance returned.
   */
  readonly is: (value: unknown) => value is IdentityError;
}

/** Whether a value is an error factory. Modules of errors export other functions too. */
export function isErrorFactory(value: unknown): value is ErrorFactory {
  return typeof value === 'function' && 'row' in value;
}

/**
 * Defines a row of the error table, and returns the factory that throw sites call.
 * @param reason the error's name: clients may depend on it, so it never changes
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

/** Returns the name of an error, or of an error body that another instance returned; undefined for other values. */
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

/** Returns the name and the parameters of another instance's error; undefined if the details do not contain them. */
export function infoIn(details: readonly unknown[]): { reason: string; metadata: IssueParams } | undefined {
  return details.map((detail) => errorInfo.safeParse(detail).data).find((data) => data !== undefined);
}

/** The remedy for a transient failure, for the user of the command. */
export const REPEAT_COMMAND = 'repeat the command';

/** The remedies for a transient failure: retry soon, or after some time. */
export const RETRY = { http: 'retry the request', command: REPEAT_COMMAND } as const;
export const RETRY_LATER = { http: 'retry the request later', command: REPEAT_COMMAND } as const;

/** The error that callers receive in place of an unexpected error. */
export const internalError = defineError('INTERNAL', 'INTERNAL_ERROR', {
  text: 'An internal error occurred',
});

/** The maximum length of a quotation from a request: texts in requests can be megabytes long. */
const MAX_QUOTED_CHARACTERS = 200;

/** Shortens a text from a request, to quote it in a response. */
export function shortenedText(text: string, characters = MAX_QUOTED_CHARACTERS): string {
  return text.length <= characters ? text : `${text.slice(0, characters).toWellFormed()}...`;
}
