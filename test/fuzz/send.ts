import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as sendRequest } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import type { Instance } from '../support/instances/deployments.ts';
import { type GeneratedRequest, OWNER } from './generatedRequest.ts';

/** A response, read whole. */
export interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly trailers: Headers;
}

/** Longer than any response on a busy machine: the server has lost the request. */
const LOST_MS = 120_000;

/** Sends requests one after the other, over connections that are kept. */
export class Sender {
  readonly #instance: Pick<Instance, 'url' | 'token'>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #session: ClientHttp2Session | undefined;

  constructor(instance: Pick<Instance, 'url' | 'token'>) {
    this.#instance = instance;
  }

  async send(request: GeneratedRequest): Promise<Response> {
    return request.isHttp2 === true ? this.#sendHttp2(request) : this.#sendHttp1(request);
  }

  close(): void {
    this.#agent.destroy();
    this.#session?.destroy();
  }

  #headersOf({ headers, body }: GeneratedRequest): Record<string, string> {
    const length: (readonly [string, string])[] = body === undefined ? [] : [['content-length', String(body.length)]];
    const withToken = (value: string) => value.replaceAll(OWNER, this.#instance.token);
    return Object.fromEntries([...headers, ...length].map(([name, value]) => [name.toLowerCase(), withToken(value)]));
  }

  async #sendHttp1(request: GeneratedRequest): Promise<Response> {
    const { method, target: path, body } = request;
    const { hostname, port } = new URL(this.#instance.url);
    const signal = AbortSignal.timeout(LOST_MS);
    const options = { hostname, port, method, path, headers: this.#headersOf(request), agent: this.#agent, signal };
    const outgoing = sendRequest(options);
    const responded = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on('response', resolve).on('error', reject);
    });
    outgoing.end(body);
    try {
      const incoming = await responded;
      const content = await buffer(incoming);
      const [headers, trailers] = [toHeaders(incoming.headers), toHeaders(incoming.trailers)];
      return { status: incoming.statusCode ?? 0, headers, body: content, trailers };
    } catch (error) {
      // The server may close an idle connection just before it receives the request.
      if (outgoing.reusedSocket && error instanceof Error && 'code' in error && error.code === 'ECONNRESET')
        return this.#sendHttp1(request);
      throw error;
    }
  }

  async #sendHttp2(request: GeneratedRequest): Promise<Response> {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) {
      this.#session = connect(this.#instance.url);
      // The streams report the session's errors.
      this.#session.on('error', () => undefined);
    }
    const fields = { ...this.#headersOf(request), ':method': request.method, ':path': request.target };
    const stream = this.#session.request(fields, { signal: AbortSignal.timeout(LOST_MS) });
    const trailers = new Headers();
    stream.on('trailers', (received) => {
      for (const [name, value] of toHeaders(received)) trailers.set(name, value);
    });
    const responded = new Promise<IncomingHttpHeaders>((resolve, reject) => {
      stream.on('response', resolve).on('error', reject);
    });
    stream.end(request.body);
    const head = await responded;
    const body = await buffer(stream);
    return { status: Number(head[':status']), headers: toHeaders(head), body, trailers };
  }
}

function toHeaders(received: Readonly<Record<string, string | readonly string[] | undefined>>): Headers {
  const fields = Object.entries(received).filter(([name]) => !name.startsWith(':'));
  return new Headers(fields.map(([name, value]): [string, string] => [name, String(value)]));
}
