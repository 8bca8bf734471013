import { IdentityError } from '../shared/errors/identityError.ts';
import { InterruptedError, UsageError } from './command.ts';
import type { Ending } from './exitCodes.ts';

/** What a person reads of a fault, and how the command ends by it. */
interface Fault {
  readonly message: string;
  readonly ending: Ending;
}

/** Describes a fault without its stack. That of an unexpected one is printed at LOG_LEVEL=debug. */
export function describeFault(error: unknown): Fault {
  if (error instanceof UsageError) return { message: error.message, ending: 'usage' };
  if (error instanceof InterruptedError) return { message: error.message, ending: 'interrupted' };
  if (error instanceof IdentityError) {
    const isUsage = error.code === 'INVALID_ARGUMENT';
    return { message: error.message, ending: isUsage ? 'usage' : 'failed' };
  }
  return { message: isSystemError(error) ? error.message : unexpected(error), ending: 'failed' };
}

/** Whether an operating system, or SQLite, has given the error its message. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error;
}

function unexpected(error: unknown): string {
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  if (process.env.LOG_LEVEL === 'debug') return `unexpected fault: ${stack}`;
  return `unexpected fault: ${message}: run the command with LOG_LEVEL=debug, and report what it prints`;
}
