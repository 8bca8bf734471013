// The authentication client of a service account.

import { gaxios, JWT } from 'google-auth-library';
import type { ServiceAccount } from './objectStorage.ts';

/** Google's token endpoint. An endpoint in a key file is never used. */
export const GOOGLE_TOKEN_URI = 'https://oauth2.googleapis.com/token';
const ATTEMPT_MS = 10_000;

/**
 * Creates a client that exchanges the account's key for an access token, and again before the token expires.
 * @param emulator the origin of an emulator, to whose `/token` the exchange goes
 */
export function createAccountClient(
  { clientEmail: email, privateKey: key }: ServiceAccount,
  scope: string,
  emulator: string | undefined,
): JWT {
  return new JWT({ email, key, scopes: [scope], transporter: createTransporter(emulator) });
}

/** The library sends exchanges to Google only, and waits without a limit for the response. */
function createTransporter(emulator: string | undefined): gaxios.Gaxios {
  return new gaxios.Gaxios({
    adapter: (options, send) => {
      if (options.url.href !== GOOGLE_TOKEN_URI) return send(options);
      const url = emulator === undefined ? options.url : new URL('/token', emulator);
      return send({ ...options, url, redirect: 'manual', signal: AbortSignal.timeout(ATTEMPT_MS) });
    },
  });
}
