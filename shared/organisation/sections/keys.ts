import { createPublicKey, type KeyObject } from 'node:crypto';
import { type JsonObject, textAt } from '../../json/jsonObject.ts';
import type { KeyedIssue, RecordIssue } from '../relations.ts';
import type { Section } from './section.ts';
import { own, user } from './sharedReferences.ts';

export const keySections: readonly Section[] = [
  {
    name: 'appKeys',
    collection: 'applicationKeys',
    phase: 3,
    zitadelStep: 'application keys',
    key: ['id'],
    needed: ['type'],
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
    zitadelStep: 'parts of users',
    key: ['keyId'],
    needed: ['type'],
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

/** Returns an issue if a key has already expired. A key without an expiration date never expires. */
function checkExpiry({ expirationDate }: JsonObject, now: string): RecordIssue | undefined {
  if (typeof expirationDate !== 'string' || Date.parse(expirationDate) >= Date.parse(now)) return undefined;
  return { id: 'DOMAIN-dv3t5', key: 'Errors.AuthNKey.ExpireBeforeNow' };
}

function checkMachineKey(record: JsonObject, now: string): RecordIssue | undefined {
  const { publicKey } = record;
  const text = typeof publicKey === 'string' ? Buffer.from(publicKey, 'base64').toString('latin1') : undefined;
  if (text === undefined || isPublicKey(text)) return checkExpiry(record, now);
  const params = { problem: keyProblem(text) };
  return { id: 'COMMAND-5F3h1', key: 'Errors.User.Machine.Key.Invalid', params };
}

/**
 * The problems that a text may have instead of being a key. If several patterns match, the error contains the problem
 * of the first match.
 */
const keyProblems: readonly (readonly [pattern: RegExp, problem: string])[] = [
  [/-----BEGIN [^-]*PRIVATE KEY-----/, 'it is a private key'],
  [/-----BEGIN [^-]*CERTIFICATE-----/, 'it is a certificate'],
  [/^0[\x80-\x84]/, 'it is in DER form'],
  [/^\s*\{/, 'it is JSON'],
  [/^ssh-|^ecdsa-/, 'it is an SSH key'],
  [/-----BEGIN /, 'the content of the key is damaged, or of a type that ZITADEL does not know'],
];

function keyProblem(text: string): string {
  return keyProblems.find(([pattern]) => pattern.test(text))?.[1] ?? 'the text has no line -----BEGIN PUBLIC KEY-----';
}

function checkApplicationOfKey(application: JsonObject): KeyedIssue | undefined {
  const usesKeys = textAt(application, 'app.authMethodType', '').endsWith('_PRIVATE_KEY_JWT');
  return usesKeys ? undefined : { id: 'COMMAND-Dff54', key: 'Errors.Project.App.AuthMethodNoPrivateKeyJWT' };
}

/**
 * Maps each type of key that ZITADEL can parse to the names of its supported curves; to undefined if keys of this type
 * have no curve.
 */
const supportedTypes: ReadonlyMap<string | undefined, readonly string[] | undefined> = new Map([
  ['rsa', undefined],
  ['dsa', undefined],
  ['ec', ['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1']],
  ['ed25519', undefined],
  ['x25519', undefined],
]);

/**
 * True if the first PEM block of a text contains a public key, as SubjectPublicKeyInfo or in PKCS #1. Ignores the label
 * of the block, because ZITADEL itself writes SubjectPublicKeyInfo with the label `RSA PUBLIC KEY`.
 */
export function isPublicKey(pem: string): boolean {
  const der = decodePem(pem);
  return der !== undefined && (isEncodedAs('spki', der) || isEncodedAs('pkcs1', der));
}

/** Decodes the first PEM block as ZITADEL does. Ignores text outside the block, and header lines inside the block. */
function decodePem(pem: string): Buffer | undefined {
  const block = /^-----BEGIN ([^\r\n-]*)-----[ \t]*\r?\n([^-]*\n)-----END \1-----[ \t]*\r?$/m.exec(pem)?.[2];
  const lines = block?.split('\n').filter((line) => !line.includes(':'));
  const base64 = lines?.join('').replace(/\s/g, '');
  return base64 !== undefined && /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? Buffer.from(base64, 'base64') : undefined;
}

function isEncodedAs(type: 'spki' | 'pkcs1', der: Buffer): boolean {
  const key = parse(type, der);
  if (key === undefined || !isSupported(key)) return false;
  // OpenSSL ignores bytes after a key. So encode the parsed key again, and compare the result with all bytes of `der`.
  // The encoding as SubjectPublicKeyInfo ends with the encoding in PKCS #1, so `subarray` serves both.
  return key.export({ type: 'spki', format: 'der' }).subarray(-der.length).equals(der);
}

function parse(type: 'spki' | 'pkcs1', der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: 'der', type });
  } catch {
    return undefined; // Node throws for bytes that are not a key; it has no other check.
  }
}

function isSupported({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  if (!supportedTypes.has(asymmetricKeyType)) return false;
  const curves = supportedTypes.get(asymmetricKeyType);
  return curves === undefined || curves.includes(asymmetricKeyDetails?.namedCurve ?? '');
}
