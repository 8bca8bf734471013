import type { ErrorReason } from '../errorReason.ts';

/** Returns the detail with the name of an error of this service. */
export function errorInfo(reason: ErrorReason, metadata?: object) {
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'identity' };
  return metadata === undefined ? info : { ...info, metadata };
}
