import { createPublicKey } from 'node:crypto';
import type { JsonRecord } from './jsonRecord.ts';
import type { RecordFault } from './section.ts';

/** A key is still valid when it is imported; one without a date is valid for ever. */
export function checkExpiry({ expirationDate }: JsonRecord, now: string): RecordFault | undefined {
  if (typeof expirationDate !== 'string' || Date.parse(expirationDate) >= Date.parse(now)) return undefined;
  return { id: 'DOMAIN-dv3t5', key: 'Errors.AuthNKey.ExpireBeforeNow' };
}

/** A service user's key is a public key in PEM, and still valid. */
export function checkMachineKey(record: JsonRecord, now: string): RecordFault | undefined {
  const { publicKey } = record;
  if (typeof publicKey !== 'string' || isPublicKey(Buffer.from(publicKey, 'base64'))) return checkExpiry(record, now);
  return { id: 'COMMAND-5F3h1', key: 'Errors.User.Machine.Key.Invalid' };
}

function isPublicKey(pem: Buffer): boolean {
  try {
    return createPublicKey({ key: pem, format: 'pem', type: 'spki' }).type === 'public';
  } catch {
    return false;
  }
}
