// Imitates Google's metadata server and IAM Credentials, which a process in Google Cloud uses for its service account.

import { sign } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import type { Access, Account } from './access.ts';
import { forbidden, invalid, sendJson } from './googleError.ts';

const METADATA = '/computeMetadata/v1/';

/**
 * Responds about the account as Google's metadata server does. A process finds that server through GCE_METADATA_HOST.
 * @returns whether the path belongs to the metadata server
 */
export function serveMetadata(access: Access, account: Account, url: string, response: ServerResponse): boolean {
  const { pathname: path, searchParams } = new URL(url, 'http://metadata');
  if (!path.startsWith(METADATA)) return false;
  const values: Readonly<Record<string, string>> = {
    'instance/service-accounts/default/email': account.clientEmail,
    'instance/service-accounts/default/token': JSON.stringify(access.newToken(searchParams.get('scopes') ?? '')),
    'universe/universe-domain': 'googleapis.com',
  };
  const value = values[path.slice(METADATA.length)];
  response.writeHead(value === undefined ? 404 : 200, {
    'metadata-flavor': 'Google',
    'content-type': value?.startsWith('{') ? 'application/json' : 'text/plain',
  });
  response.end(value ?? '');
  return true;
}

const blob = z.object({ payload: z.base64() });

/**
 * Implements `signBlob` of IAM Credentials, with the account's private key.
 * @returns whether the request calls `signBlob`
 * @throws GoogleError 401 without a token, 403 for another account
 */
export async function signBlob(
  access: Access,
  account: Account,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const [, email] = /^\/v1\/projects\/-\/serviceAccounts\/([^/]+):signBlob$/.exec(request.url ?? '') ?? [];
  if (email === undefined || request.method !== 'POST') return false;
  access.authenticate(request.headers.authorization, 'sign');
  if (decodeURIComponent(email) !== account.clientEmail) throw forbidden('iam.serviceAccounts.signBlob');
  const { data } = blob.safeParse(parseIfJson(await text(request)));
  if (data === undefined) throw invalid('Invalid value at payload');
  const signedBlob = sign('sha256', Buffer.from(data.payload, 'base64'), account.privateKeyPem).toString('base64');
  sendJson(response, 200, { keyId: 'local', signedBlob });
  return true;
}
