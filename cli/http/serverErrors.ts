import { z } from 'zod';
import * as errors from '../../shared/errors/errors.ts';
import * as httpErrors from '../../shared/errors/httpErrors.ts';
import {
  codes,
  type ErrorRow,
  errorBody,
  hasCode,
  IdentityError,
  infoIn,
  isErrorFactory,
  REPEAT_COMMAND,
} from '../../shared/errors/identityError.ts';
import { hasParams, type IssueParams, issueText } from '../../shared/errors/issueText.ts';
import { placeRefused } from '../../shared/errors/placeErrors.ts';
import * as storageErrors from '../../shared/errors/storageErrors.ts';
import * as storeErrors from '../../shared/errors/storeErrors.ts';
import { isUsageError } from '../terminal/command.ts';

const rows: ReadonlyMap<string, ErrorRow> = new Map(
  [errors, httpErrors, storageErrors, storeErrors]
    .flatMap((table) => Object.values(table).filter(isErrorFactory))
    .map(({ row }) => [row.reason, row]),
);

/**
 * Returns the text for a server's error, in the wording for users of the command. If the command does not know the
 * error, because the server is newer, returns the server's message. Leaves out the advice to repeat the command,
 * because the command's error, which contains this text, already gives this advice.
 */
function serverText(message: string, details: readonly unknown[]): string {
  const { reason = '', metadata = {} } = infoIn(details) ?? {};
  const row = rows.get(reason);
  if (row === undefined || !hasParams(row, metadata)) return message;
  const isRepeated = typeof row.remedy === 'object' && row.remedy.command === REPEAT_COMMAND;
  return issueText(isRepeated ? { text: row.text } : row, metadata, 'command');
}

const MAX_FIELDS = 10;
const MAX_FIELD_CHARACTERS = 500;

/** The details of an error that list the invalid fields of a request (specification 7.4). */
const invalidFields = z.looseObject({
  fieldViolations: z.array(z.looseObject({ field: z.string(), description: z.string() })),
});

/**
 * Describes why a server rejects a file. The text lists each invalid field with its path. If the error lists no fields,
 * returns the text of the error.
 * @example
 * rejection(error); // orgs[0].humanUsers[1].user.userName: missing or empty: expected at least 1 character
 */
export function rejection({ message, details = [] }: Rejection): string {
  const fields = details
    .flatMap((detail) => invalidFields.safeParse(detail).data?.fieldViolations ?? [])
    .filter(({ field }) => field.startsWith('orgs['))
    .map(({ field, description }) => `${field}: ${description}`.slice(0, MAX_FIELD_CHARACTERS));
  if (fields.length === 0) return serverText(message, details);
  const more = fields.length - MAX_FIELDS;
  return [...fields.slice(0, MAX_FIELDS), ...(more > 0 ? [`and at least ${more} other fields`] : [])].join('; ');
}

/**
 * Adds the name of the place to an error by which the place rejects a file as invalid. Returns all other errors
 * unchanged, such as usage errors.
 */
export function asRefusal(place: string, error: unknown): unknown {
  return hasCode(error, 'INVALID_ARGUMENT') && !isUsageError(error)
    ? placeRefused({ place, reason: rejection(error) }, { cause: error })
    : error;
}

/**
 * True if a call ended because of a time limit of this process or of an instance. False for time limits of gateways.
 */
export function isDeadline(error: unknown): boolean {
  if (errors.deadlineExceeded.is(error)) return true;
  // ZITADEL's errors have no name, so `is` does not recognise them. Check their gRPC code instead.
  const body = error instanceof IdentityError ? errorBody.safeParse(error.cause).data : undefined;
  return body?.code === codes.DEADLINE_EXCEEDED.number;
}

/** Returns the parameters of an error's text, for errors of this process and for errors of an instance. */
export function errorParams({ cause, details }: IdentityError): IssueParams {
  return infoIn([...(errorBody.safeParse(cause).data?.details ?? []), ...details])?.metadata ?? {};
}

interface Rejection {
  readonly message: string;
  readonly details?: readonly unknown[] | undefined;
}
