import { z } from 'zod';
import type { ErrorBody, IdentityError } from '../../shared/errors/identityError.ts';
import { placeFailed, placeRefused, placeTokenForbidden, placeTokenRejected } from '../../shared/errors/placeErrors.ts';
import { parseIfJson } from '../../shared/json/parseIfJson.ts';
import type { HttpResponse } from './httpCall.ts';
import { readText } from './readText.ts';

const MAX_BYTES = 1_000_000;
const MAX_CHARACTERS = 500;
const errorBody = z.object({ message: z.string() });

/** An instance, and the option that names its token's file. */
export interface CalledInstance {
  readonly origin: string;
  readonly tokenOption: string;
}

/** What an error asks of a person. */
type Fault = 'token' | 'role' | 'repeat' | 'correct';

/** The gRPC codes of errors that a repetition may pass: cancelled, deadline, exhausted, aborted, internal, unavailable. */
const passing = new Set([1, 2, 4, 8, 10, 13, 14]);

/** Returns the error of a response other than 200: what a person can do about it. */
export async function responseError(instance: CalledInstance, { status, body }: HttpResponse): Promise<IdentityError> {
  const reason = messageIn(await readText(body, MAX_BYTES)) ?? `status ${status}`;
  const faults: Readonly<Record<number, Fault>> = { 401: 'token', 403: 'role', 429: 'repeat' };
  return faultError(instance, faults[status] ?? (status >= 500 ? 'repeat' : 'correct'), reason);
}

/** Returns the same for the error that ends an import after its first event. */
export function eventError(instance: CalledInstance, { code, message }: ErrorBody): IdentityError {
  const faults: Readonly<Record<number, Fault>> = { 16: 'token', 7: 'role' };
  const fault = faults[code] ?? (passing.has(code) ? 'repeat' : 'correct');
  return faultError(instance, fault, message.slice(0, MAX_CHARACTERS));
}

function faultError({ origin, tokenOption }: CalledInstance, fault: Fault, reason: string): IdentityError {
  switch (fault) {
    case 'token':
      return placeTokenRejected(origin, tokenOption);
    case 'role':
      return placeTokenForbidden(origin, tokenOption, reason);
    case 'repeat':
      return placeFailed(origin, reason);
    case 'correct':
      return placeRefused(origin, reason);
  }
}

function messageIn(text: string): string | undefined {
  // A proxy answers with a page of its own.
  return errorBody.safeParse(parseIfJson(text)).data?.message.slice(0, MAX_CHARACTERS);
}
