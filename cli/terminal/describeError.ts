import { tmpdir } from 'node:os';
import { z } from 'zod';
import { total } from '../../shared/collections/counts.ts';
import { commandInterrupted, organisationUnknown } from '../../shared/errors/commandErrors.ts';
import { errorBody, IdentityError, internalError } from '../../shared/errors/identityError.ts';
import { planChanged, spoolFull } from '../../shared/errors/placeErrors.ts';
import { storeFailed } from '../../shared/errors/storeErrors.ts';
import { isDatabaseFull, isStorageFull, systemCode } from '../../shared/systemCode.ts';
import type { ExitStatus } from './command.ts';
import { isUsageError } from './command.ts';
import { numberText } from './numberTexts.ts';
import { printable } from './terminal.ts';

interface DescribedError {
  readonly message: string;
  readonly exitStatus: ExitStatus;
}

/**
 * Describes an error as the command prints it.
 * @param logLevel with `debug`, the message of an unexpected error contains its stack
 * @example
 * describeError(usageError('missing option --to')); // { message: 'missing option --to', exitStatus: 'usage' }
 */
export function describeError(error: unknown, logLevel = process.env.LOG_LEVEL): DescribedError {
  // A configuration can have several problems, each on a line of its own. So keep the line breaks between the problems.
  if (isUsageError(error)) return { message: error.message.split('\n').map(printable).join('\n'), exitStatus: 'usage' };
  if (commandInterrupted.is(error)) return { message: printable(error.message), exitStatus: 'interrupted' };
  // An instance does not send the cause of an internal error to its callers, but the user of this command may see the
  // cause.
  if (internalError.is(error) && error.cause instanceof Error) return describeCause(error, error.cause, logLevel);
  // Only the operating system's error, which is the cause, contains the path of the full disk.
  if (storeFailed.is(error) && isSystemError(error.cause) && isStorageFull(error.cause))
    return describeCause(error, error.cause, logLevel);
  if (planChanged.is(error)) return { message: printable(error.commandMessage), exitStatus: 'unconfirmed' };
  if (error instanceof IdentityError) {
    const isUsage = error.code === 'INVALID_ARGUMENT' || organisationUnknown.is(error);
    return { message: printable(error.commandMessage), exitStatus: isUsage ? 'usage' : 'failed' };
  }
  // If this error came from the store, it would be an IdentityError. So the error comes from a temporary database.
  if (isDatabaseFull(error)) return describeError(spoolFull({ directory: tmpdir() }));
  const isExpected = isSystemError(error);
  return { message: isExpected ? printable(systemText(error)) : unexpectedText(error, logLevel), exitStatus: 'failed' };
}

function describeCause({ note }: IdentityError, cause: Error, logLevel: string | undefined): DescribedError {
  const { message, exitStatus } = describeError(cause, logLevel);
  return { message: note === undefined ? message : `${message}; ${printable(note)}`, exitStatus };
}

const counts = z.record(z.string(), z.number());
/** The part of an import's error that contains the progress (specification 2.10). */
const importProgress = z.looseObject({
  '@type': z.literal('type.googleapis.com/identity.v1.ImportProgress'),
  written: counts,
  total: counts.optional(),
});

/** Returns undefined if the error contains no progress of an import. */
export function writtenText(error: unknown): string | undefined {
  if (!(error instanceof IdentityError)) return undefined;
  const details = [...error.details, ...(errorBody.safeParse(error.cause).data?.details ?? [])];
  const progress = details.map((detail) => importProgress.safeParse(detail).data).find((data) => data !== undefined);
  if (progress === undefined) return undefined;
  const totalText = progress.total === undefined ? '' : ` of ${numberText(total(progress.total))}`;
  return `${numberText(total(progress.written))}${totalText} records of the file were written before the error`;
}

/** True if the error comes from the operating system or from SQLite, because only their errors have a code. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error;
}

const fileProblems: ReadonlyMap<string | undefined, (path: string) => string> = new Map([
  ['ENOENT', (path) => `${path} does not exist: check the name`],
  ['ENOTDIR', (path) => `a part of ${path} is not a directory: check the name`],
  ['EISDIR', (path) => `${path} is a directory: specify a file`],
  ['EACCES', denied],
  ['EPERM', denied],
  ['EROFS', (path) => `${path} is on a read-only file system: specify a path on another file system`],
  ['ENOSPC', full],
  ['EDQUOT', full],
]);

function denied(path: string): string {
  return `this user has no access to ${path}: change the permissions of the file or its directories, or run the command as the owner of the file`;
}

function full(path: string): string {
  return `the disk of ${path} is full: free space on the disk, then repeat the command`;
}

function systemText({ code, path, message }: NodeJS.ErrnoException): string {
  const problem = path === undefined ? undefined : fileProblems.get(code)?.(path);
  return problem ?? message;
}

function unexpectedText(error: unknown, logLevel: string | undefined): string {
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  if (logLevel === 'debug') return `unexpected error: ${stack}`;
  return `unexpected error: ${printable(message)}: run the command with LOG_LEVEL=debug, and report its output`;
}

export function failureText(error: unknown): string {
  if (isStorageFull(error)) return 'no space left';
  if (systemCode(error) === 'EEXIST') return 'another process has created a file with this name';
  if (error instanceof IdentityError) return error.text;
  return systemCode(error) || describeError(error).message;
}
