import type { IncomingMessage } from 'node:http';
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

/** The limits of a request, and who learns of it. */
export interface SendOptions {
  /** How long the answer may take. */
  readonly timeoutMs?: number | undefined;
  /** Aborts the request. */
  readonly signal?: AbortSignal | undefined;
  /** Told of the request with its answer, or without one where the connection was lost. */
  readonly onExchange?: ((request: RowRequest, answer: Answer | undefined) => void) | undefined;
}

const TIMEOUT_MS = 120_000;

/**
 * Sends a request just as it is written: no header is added but Host and the body's length, no path is tidied up, no
 * redirect is followed. Each request has a connection of its own, so that none meets the end of an earlier one.
 * @param authorization the Authorization header; none where undefined
 * @throws Error when no whole answer comes
 */
export async function send(
  baseUrl: string,
  request: RowRequest,
  authorization: string | undefined,
  options: SendOptions = {},
): Promise<Answer> {
  try {
    const answer = await exchange(baseUrl, request, authorization, options);
    options.onExchange?.(request, answer);
    return answer;
  } catch (error) {
    options.onExchange?.(request, undefined);
    throw error;
  }
}

async function exchange(
  baseUrl: string,
  { method, path, headers, body }: RowRequest,
  authorization: string | undefined,
  { timeoutMs = TIMEOUT_MS, signal }: SendOptions,
): Promise<Answer> {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const open = protocol === 'https:' ? requestHttps : requestHttp;
  const limits = [AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])];
  const request = open({
    hostname,
    port,
    method,
    path: `${pathname.replace(/\/$/, '')}${path}`,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      ...headers,
    },
    agent: false,
    signal: AbortSignal.any(limits),
  });
  // The listener for errors stays: a server may answer and then close the connection before it has read the body.
  const responded = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject);
  });
  request.end(body);
  const response = await responded;
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}
