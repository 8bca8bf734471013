// Imitates two services that a process in Google Cloud uses with its service account: Google's metadata server, and IAM
// Credentials.

import { sign } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import type { Access, Account } from './access.ts';
import { forbidden, invalid, sendJson } from './googleError.ts';

const METADATA = '/computeMetadata/v1/';

/**
 * Serves the paths of Google's metadata server that describe the account. A process finds the server through
 * GCE_METADATA_HOST.
 * @returns false, without a response, for any other path
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
 * Serves `signBlob` of IAM Credentials, which signs with the account's private key.
 * @returns false, without a response, for any other request
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
