import { type JsonObject, textAt } from '../../json/jsonObject.ts';
import { isPublicKey } from '../publicKey.ts';
import type { RecordIssue } from '../relations.ts';
import type { Section } from '../section.ts';
import { own, user } from './references.ts';

/** The sections of application keys and machine keys. */
export const keySections: readonly Section[] = [
  {
    name: 'appKeys',
    collection: 'applicationKeys',
    phase: 3,
    key: ['id'],
    references: [
      {
        ...own({
          collection: 'applications',
          key: ['appId'],
          missing: { id: 'COMMAND-sak24', key: 'Errors.Project.App.NotFound' },
        }),
        check: checkApplicationOfKey,
      },
    ],
    check: checkExpiry,
    error: {
      type: 'app_key',
      id: ['id'],
      exists: { id: 'COMMAND-so20alo', key: 'Errors.Project.App.Key.AlreadyExisting' },
    },
    success: { field: 'appKeys', entry: ['id'] },
    keys: true,
  },
  {
    name: 'machineKeys',
    collection: 'machineKeys',
    phase: 3,
    key: ['keyId'],
    references: [own(user('userId', 'COMMAND-bnipwm1'))],
    check: checkMachineKey,
    error: {
      type: 'machine_user_key',
      id: ['keyId'],
      exists: { id: 'COMMAND-091mops', key: 'Errors.User.Machine.Key.AlreadyExists' },
    },
    success: { field: 'machineKeys', entry: ['keyId'] },
    keys: true,
  },
];

/** Checks that a key has not expired; a key without a date never expires. */
export function checkExpiry({ expirationDate }: JsonObject, now: string): RecordIssue | undefined {
  if (typeof expirationDate !== 'string' || Date.parse(expirationDate) >= Date.parse(now)) return undefined;
  return { id: 'DOMAIN-dv3t5', key: 'Errors.AuthNKey.ExpireBeforeNow' };
}

/** Checks that a machine key is a public key in PEM and has not expired. */
export function checkMachineKey(record: JsonObject, now: string): RecordIssue | undefined {
  const { publicKey } = record;
  const isValid = typeof publicKey !== 'string' || isPublicKey(Buffer.from(publicKey, 'base64').toString('latin1'));
  return isValid ? checkExpiry(record, now) : { id: 'COMMAND-5F3h1', key: 'Errors.User.Machine.Key.Invalid' };
}

/** Checks that an application with keys authenticates by private key JWT. */
export function checkApplicationOfKey(application: JsonObject): RecordIssue | undefined {
  const usesKeys = textAt(application, 'app.authMethodType', '').endsWith('_PRIVATE_KEY_JWT');
  return usesKeys ? undefined : { id: 'COMMAND-Dff54', key: 'Errors.Project.App.AuthMethodNoPrivateKeyJWT' };
}
