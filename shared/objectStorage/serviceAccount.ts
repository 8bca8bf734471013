import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { z } from 'zod';
import { invalidRequest } from '../errors/errors.ts';
import type { ServiceAccount } from './objectStorage.ts';

/**
 * The maximum length of the request field. Google's key files are much shorter: about 2.4 KB before they are encoded in
 * base64.
 */
const maxLength = 64 * 1024;

/**
 * The minimum and the maximum size of a key. Google's keys have 2,048 bits. A signature with 32,768 bits would block
 * the process for seconds.
 */
const minKeyBits = 2_048;
const maxKeyBits = 4_096;

/**
 * The maximum public exponent of a key. Usual exponents have 17 bits. An attacker could send a key whose exponent has
 * 40,000 bits. A signature would then need as many steps.
 */
const maxExponent = 2 ** 32 - 1;

/**
 * The maximum size in bytes of a public key in PKCS #1. Even a key of `maxKeyBits` bits with the exponent `maxExponent`
 * is not larger than this.
 */
const maxPublicBytes = 528;

/**
 * Types of Google's credentials that this service rejects. Their files can contain URLs, or paths of files and
 * programs, that a Google library would use.
 */
const unsupportedTypes = [
  'authorized_user',
  'external_account',
  'external_account_authorized_user',
  'gdch_service_account',
  'impersonated_service_account',
];

const tokenUris = ['https://oauth2.googleapis.com/token', 'https://accounts.google.com/o/oauth2/token'] as const;

const looksLikeKeyFile = z.looseObject({ type: z.string() });

const keyFileSchema = z.object({
  token_uri: z.enum(tokenUris, { error: 'unknown token_uri: use the key file exactly as Google issued it' }).optional(),
  universe_domain: z
    .literal('googleapis.com', { error: 'unsupported universe_domain: only googleapis.com is supported' })
    .optional(),
  client_email: z
    .string({ error: 'missing client_email' })
    .max(320, { error: 'invalid client_email: must be an e-mail address' })
    .regex(/^[^\s@]+@[^\s@]+$/, { error: 'invalid client_email: must be an e-mail address' }),
  private_key: z.string({ error: 'missing private_key' }).max(8_192, { error: 'invalid private_key: too long' }),
});

/**
 * Reads a service account from a request field that contains a Google key file in base64. The key file is untrusted:
 * this function uses only the account's address and private key, and rejects other types of credentials. No error
 * contains a value of the key file, except the type in `unsupportedTypes`.
 * @param base64 standard or URL-safe, with or without padding and line breaks
 * @param field the path of the request field, for example `gcs_output.serviceaccount_json`
 * @throws IdentityError INVALID_ARGUMENT if the field does not contain a valid key file. The error contains the field
 * and the problem
 */
export function readServiceAccount(base64: string, field: string): ServiceAccount {
  const invalid = (description: string) => invalidRequest([{ field, description }]);
  const file = keyFileSchema.safeParse(serviceAccountFile(base64, invalid));
  if (!file.success) throw invalid(file.error.issues[0]?.message ?? 'must be a service account key file');
  const key = readKey(file.data.private_key, invalid);
  return { clientEmail: file.data.client_email, privateKey: toPem(key) };
}

type CreateError = (description: string) => Error;

function serviceAccountFile(base64: string, invalid: CreateError): unknown {
  const file = looksLikeKeyFile.safeParse(parseKeyFile(decodeBase64(base64, invalid), invalid));
  if (!file.success) throw invalid('must be the base64 of a service account key file: it has no field "type"');
  const { type } = file.data;
  if (unsupportedTypes.includes(type)) throw invalid(`unsupported credential type ${type}: use service_account`);
  if (type !== 'service_account') throw invalid('unknown credential type: use service_account');
  return file.data;
}

function decodeBase64(base64: string, invalid: CreateError): string {
  if (base64.length > maxLength) throw invalid('too large for a service account key file');
  const compact = base64.replace(/\s/g, '');
  if (compact === '') throw invalid('must not be empty');
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(compact)) throw invalid('must be base64');
  return Buffer.from(compact, 'base64').toString('utf8');
}

function parseKeyFile(text: string, invalid: CreateError): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('must be the base64 of a JSON file');
  }
}

/** Parses a private key, and rejects a key if a signature with it would take more than some milliseconds. */
function readKey(text: string, invalid: CreateError): KeyObject {
  const key = attempt(() => createPrivateKey({ key: text, format: 'pem' }));
  if (key === undefined) throw invalid('invalid private_key: must be a PEM private key');
  if (key.asymmetricKeyType !== 'rsa') throw invalid('invalid private_key: must be an RSA key');
  // Check the size before the details. For a larger key, OpenSSL fails to read the details, but reports this error only
  // later, possibly in the request of another caller.
  const publicBytes = attempt(() => createPublicKey(key).export({ type: 'pkcs1', format: 'der' }).byteLength);
  if (publicBytes === undefined) throw invalid('invalid private_key: the public and private parts do not match');
  if (publicBytes > maxPublicBytes) throw invalid('invalid private_key: modulus or exponent too large');
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < minKeyBits || modulusLength > maxKeyBits)
    throw invalid(`invalid private_key: must have ${minKeyBits} to ${maxKeyBits} bits`);
  if (publicExponent > maxExponent) throw invalid('invalid private_key: modulus or exponent too large');
  // Sign a test value, because OpenSSL does not check whether the private part of the key belongs to its public part
  // when it parses the key.
  const signature = attempt(() => sign('sha256', Buffer.alloc(0), key));
  if (signature === undefined) throw invalid('invalid private_key: the public and private parts do not match');
  return key;
}

/** Returns undefined if OpenSSL rejects the key. Drops the error, because it may contain the key. */
function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function toPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
