import { once } from 'node:events';
import { connect, getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { IdentityError } from '../../shared/errors/identityError.ts';
import { placeLost, placeProtocolWrong, placeUnreachable, placeUntrusted } from '../../shared/errors/placeErrors.ts';
import { systemCode } from '../../shared/systemCode.ts';

/** True for an error code of OpenSSL or Node that means that the server's certificate was rejected. */
function isCertificateError(code: string): boolean {
  return /CERT|^UNABLE_TO_/.test(code);
}

let isSystemTrusted = false;

/**
 * After a certificate error, also trusts the certificate authorities of the operating system. Loads these only after an
 * error, because loading takes a third of a second.
 * @returns whether another attempt may succeed
 */
export function trustSystem(error: unknown): boolean {
  if (isSystemTrusted || !isCertificateError(systemCode(error))) return false;
  isSystemTrusted = true;
  setDefaultCACertificates([...getCACertificates('default'), ...getCACertificates('system')]);
  return true;
}

/**
 * Returns the error of a call without a response. The cause is a problem of TLS, an unreachable server, or a lost
 * connection.
 * @param moment when the connection was lost, such as `before the response to GET /`
 */
export async function connectionError(origin: string, error: unknown, moment: string): Promise<IdentityError> {
  const code = systemCode(error);
  if (isCertificateError(code)) return placeUntrusted({ place: origin, code });
  const { protocol, host } = new URL(origin);
  if (protocol === 'https:' && String(error).includes('wrong version number'))
    return placeProtocolWrong({
      place: origin,
      problem: `does not use TLS: specify its TLS port, or on this machine http://${host}`,
    });
  const isRefused = code === 'ECONNREFUSED' || code === 'ENOTFOUND';
  const expectsTls = isRefused ? undefined : await plainToTls(origin);
  if (expectsTls !== undefined) return expectsTls;
  if (code.startsWith('HPE_')) return placeProtocolWrong({ place: origin, problem: httpProblem(code) });
  const factory = code === 'ECONNRESET' || code === 'EPIPE' ? placeLost : placeUnreachable;
  return factory({ place: origin, moment, reason: connectionReason(error) });
}

/**
 * Describes a problem with the protocol of a response. The response of another protocol does not begin with `HTTP/1`.
 */
function httpProblem(code: string): string {
  return code === 'HPE_INVALID_CONSTANT' || code === 'HPE_INVALID_VERSION'
    ? `does not speak HTTP/1.1 (${code}): another service uses this port; check the host and the port`
    : `sends an invalid HTTP response (${code}): check the address, and the gateway in front of the instance`;
}

/**
 * Returns an error if the address begins with http: but a server with TLS listens on its port. Returns undefined for
 * any other address.
 */
export async function plainToTls(origin: string): Promise<IdentityError | undefined> {
  const { protocol, host } = new URL(origin);
  if (protocol !== 'http:' || !(await speaksTls(origin))) return undefined;
  return placeProtocolWrong({ place: origin, problem: `expects TLS: specify https://${host}` });
}

const PROBE_MS = 2_000;

async function speaksTls(origin: string): Promise<boolean> {
  const { hostname, port } = new URL(origin);
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 80),
    rejectUnauthorized: false,
  });
  try {
    return await once(socket, 'secureConnect', { signal: AbortSignal.timeout(PROBE_MS) }).then(
      () => true,
      () => false,
    );
  } finally {
    socket.destroy();
  }
}

export function connectionReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}
