import { createPrivateKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { invalidRequest } from '../errors/errors.ts';
import type { ServiceAccount } from './objectStorage.ts';

/** A Google key file has 2.4 KB; what is much larger is not one. */
const maxLength = 64 * 1024;

/** The other kinds of Google credentials. They can name URLs, files or programs to run, so none may reach a Google library. */
const refusedTypes = [
  'authorized_user',
  'external_account',
  'external_account_authorized_user',
  'gdch_service_account',
  'impersonated_service_account',
];

const tokenUris = ['https://oauth2.googleapis.com/token', 'https://accounts.google.com/o/oauth2/token'] as const;

const looksLikeKeyFile = z.looseObject({ type: z.string() });

const keyFile = z.object({
  token_uri: z.enum(tokenUris, { error: 'foreign token_uri: use the key file as Google issued it' }).optional(),
  universe_domain: z
    .literal('googleapis.com', { error: 'unsupported universe_domain: only googleapis.com is supported' })
    .optional(),
  client_email: z
    .string({ error: 'missing client_email' })
    .max(320, { error: 'invalid client_email: must be an e-mail address' })
    .regex(/^[^\s@]+@[^\s@]+$/, { error: 'invalid client_email: must be an e-mail address' }),
  private_key: z.string({ error: 'missing private_key' }),
});

/**
 * Reads the service account out of a request field: the base64 of the key file that Google issues.
 * The key file comes from outside, so nothing of it is taken but the address and the key, and every other type of
 * credential is refused. No error repeats anything of the content.
 * @param base64 standard or URL-safe, with or without padding and line breaks
 * @param field the path of the request field, for example `gcs_output.serviceaccount_json`
 * @throws IdentityError INVALID_ARGUMENT that names the field and the fault
 */
export function readServiceAccount(base64: string, field: string): ServiceAccount {
  const refuse = (description: string) => invalidRequest([{ field, description }]);
  const file = keyFile.safeParse(serviceAccountFile(base64, refuse));
  if (!file.success) throw refuse(file.error.issues[0]?.message ?? 'must be a service account key file');
  const key = privateKey(file.data.private_key);
  if (key === undefined) throw refuse('invalid private_key: must be a PEM private key');
  if (key.asymmetricKeyType !== 'rsa') throw refuse('invalid private_key: must be an RSA key');
  return { clientEmail: file.data.client_email, privateKey: pem(key) };
}

type Refuse = (description: string) => Error;

function serviceAccountFile(base64: string, refuse: Refuse): unknown {
  const file = looksLikeKeyFile.safeParse(parseJson(decode(base64, refuse), refuse));
  if (!file.success) throw refuse('must be the base64 of a service account key file: missing type');
  const { type } = file.data;
  if (refusedTypes.includes(type)) throw refuse(`unsupported credential type ${type}: use service_account`);
  if (type !== 'service_account') throw refuse('unknown credential type: use service_account');
  return file.data;
}

function decode(base64: string, refuse: Refuse): string {
  if (base64.length > maxLength) throw refuse('too large for a service account key file');
  const compact = base64.replace(/\s/g, '');
  if (compact === '') throw refuse('must not be empty');
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(compact)) throw refuse('must be base64');
  return Buffer.from(compact, 'base64').toString('utf8');
}

function parseJson(text: string, refuse: Refuse): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuse('must be the base64 of a JSON file');
  }
}

function privateKey(text: string): KeyObject | undefined {
  try {
    return createPrivateKey({ key: text, format: 'pem' });
  } catch {
    return undefined;
  }
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
