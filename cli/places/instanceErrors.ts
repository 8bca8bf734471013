import { z } from 'zod';
import type { IdentityError } from '../../shared/errors/identityError.ts';
import { placeFailed, placeRefused, placeTokenForbidden, placeTokenRejected } from '../../shared/errors/placeErrors.ts';
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

/** Returns the error of a response other than 200: what a person can do about it. */
export async function responseError(
  { origin, tokenOption }: CalledInstance,
  { status, body }: HttpResponse,
): Promise<IdentityError> {
  const reason = messageIn(await readText(body, MAX_BYTES)) ?? `status ${status}`;
  if (status === 401) return placeTokenRejected(origin, tokenOption);
  if (status === 403) return placeTokenForbidden(origin, tokenOption, reason);
  return status >= 500 || status === 429 ? placeFailed(origin, reason) : placeRefused(origin, reason);
}

function messageIn(text: string): string | undefined {
  try {
    return errorBody.safeParse(JSON.parse(text)).data?.message.slice(0, MAX_CHARACTERS);
  } catch {
    // A proxy answers with a page of its own.
    return undefined;
  }
}
