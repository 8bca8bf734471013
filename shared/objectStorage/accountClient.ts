import { gaxios, JWT } from 'google-auth-library';
import type { ServiceAccount } from './objectStorage.ts';

/** Google's token endpoint. The client never uses the endpoint that a key file contains. */
export const GOOGLE_TOKEN_URI = 'https://oauth2.googleapis.com/token';
const ATTEMPT_MS = 10_000;

/**
 * Creates a client that authenticates as a service account. It gets a new token before the current token expires.
 * @param emulator the origin of an emulator of Cloud Storage. If present, the client requests tokens at `/token` of
 * this origin
 */
export function createAccountClient(
  { clientEmail: email, privateKey: key }: ServiceAccount,
  scope: string,
  emulator: string | undefined,
): JWT {
  return new JWT({ email, key, scopes: [scope], transporter: createTransporter(emulator) });
}

/**
 * Replaces the library's own transport, which sends the key only to Google's endpoint, even with an emulator, and has
 * no time limit.
 */
function createTransporter(emulator: string | undefined): gaxios.Gaxios {
  return new gaxios.Gaxios({
    adapter: (options, send) => {
      if (options.url.href !== GOOGLE_TOKEN_URI) return send(options);
      const url = emulator === undefined ? options.url : new URL('/token', emulator);
      return send({ ...options, url, redirect: 'manual', signal: AbortSignal.timeout(ATTEMPT_MS) });
    },
  });
}
