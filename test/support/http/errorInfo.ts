import type { ErrorReason } from '../errorReason.ts';

/** The detail with the name of an error of this service. */
export function errorInfo(reason: ErrorReason) {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'identity' };
}
