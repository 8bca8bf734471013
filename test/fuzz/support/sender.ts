import type { Conversation } from '../arbitraries/http2Frames.ts';
import { Connection } from '../http/connection.ts';
import { conversationBytes } from '../http/conversation.ts';
import { areEnded, readFrames } from '../http/frameReader.ts';
import { exchangeOverHttp2, Http2Sessions, NotProcessed } from '../http/http2Exchange.ts';
import { type HttpRequest, OWNER, toBytes, withToken } from '../http/httpRequest.ts';
import { takeResponse, type WireResponse } from '../http/responseReader.ts';
import { allowanceFor, allowanceForBytes, type FuzzCase } from './fuzzCase.ts';
import { judge } from './judge.ts';
import { Violation } from './violation.ts';

/** The instance that requests are sent to. */
export interface Target {
  readonly url: string;
  readonly token: string;
}

const CLOSED = 'closed';
/** No response, or not all of it, to a request that broke the protocol, was reset, or had no window. */
const NONE = 'none';

/** Sends cases one after the other, on a connection that is kept as long as the server keeps it. */
export class Sender {
  readonly #target: Target;
  readonly #sessions: Http2Sessions;
  #kept: Connection | undefined;

  constructor(target: Target) {
    this.#target = target;
    this.#sessions = new Http2Sessions(target.url);
  }

  /**
   * Sends a case, and judges what comes back.
   * @returns the statuses, for the report
   * @throws Violation
   */
  async send(one: FuzzCase): Promise<readonly string[]> {
    switch (one.way) {
      case 'kept':
        return [await this.#sendKept(one.request)];
      case 'pipelined':
        return this.#sendPipelined(one.requests);
      case 'raw':
        return this.#sendRaw(one.bytes);
      case 'http2':
        return [await this.#sendHttp2(one.request, one.isReset)];
      case 'conversation':
        return this.#converse(one);
    }
  }

  close(): void {
    this.#kept?.close();
    this.#sessions.close();
  }

  async #sendKept(request: HttpRequest): Promise<string> {
    const bytes = withToken(toBytes(request), this.#target.token);
    const isHead = request.method === 'HEAD';
    const response = (await this.#onKept(bytes, isHead)) ?? (await this.#onNew(bytes, isHead));
    return judge(response, allowanceFor(request), isHead);
  }

  /** Uses the kept connection; undefined where the server has just closed it, as HTTP allows between requests. */
  async #onKept(bytes: Buffer, isHead: boolean): Promise<WireResponse | undefined> {
    const kept = this.#kept;
    if (kept === undefined || !kept.isOpen) return undefined;
    kept.write(bytes);
    const response = await kept.nextResponse(isHead);
    if (response === undefined || response.headers.get('connection') === 'close') this.#drop();
    return response;
  }

  async #onNew(bytes: Buffer, isHead: boolean): Promise<WireResponse> {
    this.#drop();
    const connection = await Connection.open(this.#target.url);
    this.#kept = connection;
    connection.write(bytes);
    const response = await connection.nextResponse(isHead);
    if (response === undefined) throw new Violation('the connection was closed without a response');
    if (response.headers.get('connection') === 'close') this.#drop();
    return response;
  }

  #drop(): void {
    this.#kept?.close();
    this.#kept = undefined;
  }

  async #sendPipelined(requests: readonly HttpRequest[]): Promise<readonly string[]> {
    const connection = await Connection.open(this.#target.url);
    try {
      connection.write(withToken(Buffer.concat(requests.map(toBytes)), this.#target.token));
      const statuses: string[] = [];
      for (const request of requests) {
        const response = await connection.nextResponse(request.method === 'HEAD');
        if (response === undefined) throw new Violation(`${statuses.length} responses to ${requests.length} requests`);
        const [, id] = request.headers.find(([name]) => name === 'X-Request-Id') ?? [];
        const given = response.headers.get('x-request-id');
        if (given !== id) throw new Violation(`the response to ${given} in the place of that to ${id}`);
        statuses.push(judge(response, allowanceFor(request), request.method === 'HEAD'));
      }
      connection.end();
      const rest = await connection.untilEnd();
      if (rest.length > 0) throw new Violation(`more responses than requests: ${rest.toString('latin1')}`);
      return statuses;
    } finally {
      connection.close();
    }
  }

  /** Anything may be sent, so anything from no response to many is right, as long as each is sound. */
  async #sendRaw(bytes: Buffer): Promise<readonly string[]> {
    let { received: rest, isCut } = await this.#untilEnd(bytes);
    // By these bytes the server knows HTTP/2, whatever follows.
    if (bytes.toString('latin1', 0, 3) === 'PRI') return [CLOSED];
    const allowance = allowanceForBytes(bytes);
    const isHead = hasHead(bytes);
    const isOld = bytes.includes('HTTP/1.0');
    const statuses: string[] = [];
    while (rest.length > 0) {
      const taken = takeResponse(rest, isHead, isOld);
      // Only the request's parser knows which of several requests is the HEAD, and has no body in its response. And a
      // response that begins when the client has closed its side may be cancelled.
      if (taken === undefined && (isHead || !isCut)) break;
      if (taken === undefined)
        throw new Violation(`the connection ended within a response: ${rest.toString('latin1')}`);
      statuses.push(judge(taken.response, allowance, isHead));
      rest = isHead ? Buffer.of() : taken.rest;
    }
    return statuses.length === 0 ? [CLOSED] : statuses;
  }

  async #converse({ requests, frames }: Conversation): Promise<readonly string[]> {
    const connection = await Connection.open(this.#target.url);
    connection.write(conversationBytes(frames, this.#target.token));
    const received = await connection.untilAll((bytes) => areEnded(bytes, requests.length));
    connection.close();
    const { responses, problem } = await readFrames(
      received,
      requests.map(({ method }) => method),
    );
    if (problem !== undefined) throw new Violation(`bytes that are no HTTP/2: ${problem}`);
    return responses.map((response, index) => {
      const request = requests[index];
      if (response === undefined || request === undefined) return NONE;
      return judge(response, allowanceFor(request), request.method === 'HEAD');
    });
  }

  async #untilEnd(bytes: Buffer): Promise<{ received: Buffer; isCut: boolean }> {
    const connection = await Connection.open(this.#target.url);
    try {
      connection.write(withToken(bytes, this.#target.token));
      await connection.untilQuiet(hasHead(bytes));
      connection.end();
      return { received: await connection.untilEnd(), isCut: connection.isCut };
    } finally {
      connection.close();
    }
  }

  async #sendHttp2({ method, target, headers, ...request }: HttpRequest, isReset: boolean): Promise<string> {
    const fields = Object.fromEntries(
      headers.map(([name, value]) => [name.toLowerCase(), value.replaceAll(OWNER, this.#target.token)]),
    );
    const message = {
      headers: { ...fields, ':method': method, ':path': target },
      body: request.body ?? Buffer.of(),
      isReset,
    };
    const response = await exchangeOverHttp2(this.#sessions.current(), message).catch((error: unknown) => {
      // The server closes idle sessions, and a request may cross that.
      if (!(error instanceof NotProcessed)) throw error;
      return exchangeOverHttp2(this.#sessions.current(), message);
    });
    if (response === undefined) return 'reset';
    return judge(response, allowanceFor({ method, target, headers, ...request }), method === 'HEAD');
  }
}

/** Whether one of the requests in some bytes is a HEAD. */
function hasHead(bytes: Buffer): boolean {
  return /\bHEAD /.test(bytes.toString('latin1'));
}
