import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AccessTokenRegister } from './accessTokenRegister.ts';
import type { Account } from './account.ts';
import { readSignedToken } from './signedToken.ts';

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Serves `POST /token` as Google's token endpoint does: a JWT that an account signed for this endpoint becomes a token. */
export async function issueToken(
  accounts: readonly Account[],
  register: AccessTokenRegister,
  origin: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const form = new URLSearchParams(await text(request));
  const token = readSignedToken(form.get('assertion') ?? '', accounts);
  if (form.get('grant_type') !== GRANT_TYPE) return reject(response, 'unsupported_grant_type', 'Invalid grant_type');
  if (token === undefined || token.aud !== `${origin}/token`)
    return reject(response, 'invalid_grant', 'Invalid JWT Signature.');
  if (token.scope === undefined || token.scope === '') return reject(response, 'invalid_scope', 'Empty scope.');
  const { value, expiresInSeconds } = register.issue(token.account, token.scope);
  send(response, 200, { access_token: value, expires_in: expiresInSeconds, token_type: 'Bearer' });
}

function reject(response: ServerResponse, error: string, description: string): void {
  send(response, 400, { error, error_description: description });
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
}
