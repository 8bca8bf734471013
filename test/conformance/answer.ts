import { once } from 'node:events';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import type { RowRequest } from './row.ts';

/** An answer, read whole. Header names are in lower case. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

/**
 * Sends a request just as it is written: no header is added but Host and the body's length, no path is tidied up, no
 * redirect is followed.
 * @param authorization the Authorization header; none where undefined
 */
export async function send(baseUrl: string, row: RowRequest, authorization: string | undefined): Promise<Answer> {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const { method, body } = row;
  const headers = {
    ...(authorization === undefined ? {} : { authorization }),
    ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
    ...row.headers,
  };
  const open = protocol === 'https:' ? requestHttps : requestHttp;
  const request = open({ hostname, port, method, path: `${pathname.replace(/\/$/, '')}${row.path}`, headers });
  const responded = once(request, 'response');
  request.end(body);
  const [response] = await responded;
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}
