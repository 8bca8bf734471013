import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';

/** A method of Firestore that the store calls. */
type Method = 'BatchGetDocuments' | 'Commit' | 'RunQuery' | 'GetDocument' | 'RunAggregationQuery';

/** A fault of one call. */
export interface CallFault {
  readonly method: Method;
  /** Whether the server receives the call and handles it completely. */
  readonly isForwarded: boolean;
  /** An action before the caller notices the fault. */
  readonly meanwhile?: () => Promise<unknown>;
  /** The status that replaces the server's response. Without it, the connection breaks. */
  readonly status?: number;
}

/** A network that decodes gRPC, so that a fault occurs exactly between the request and the response of a call. */
export interface GrpcProxy {
  /** The proxy's `host:port`. */
  readonly address: string;
  /** The number of calls of a method so far. */
  calls(method: Method): number;
  /** Fails the next calls of the faults' methods, in order, each fault once. */
  strike(...faults: readonly CallFault[]): void;
  /** Whether every fault has occurred. */
  isSpent(): boolean;
  /**
   * Throttles: responds to the next calls, of one method or of all methods, with RESOURCE_EXHAUSTED. Replaces an
   * earlier throttling.
   */
  throttle(calls: number, method?: Method): void;
  /** The number of throttled calls so far. */
  throttled(): number;
  close(): Promise<void>;
}

/** Starts a proxy to a gRPC server at `host:port`, without encryption. */
export async function startGrpcProxy(target: string): Promise<GrpcProxy> {
  const faults: CallFault[] = [];
  const calls = new Map<string, number>();
  let throttling: { calls: number; readonly method: Method | undefined } = { calls: 0, method: undefined };
  let throttled = 0;
  const upstream = connect(`http://${target}`);
  const server = createServer();
  const sessions = new Set<{ destroy(): void }>([upstream]);
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    const method = headers[':path']?.split('/').at(-1) ?? '';
    calls.set(method, (calls.get(method) ?? 0) + 1);
    if (throttling.calls > 0 && [undefined, method].includes(throttling.method)) {
      throttling.calls--;
      throttled++;
      answer(stream, RESOURCE_EXHAUSTED);
      return;
    }
    const index = faults.findIndex((fault) => fault.method === method);
    const [fault] = index < 0 ? [] : faults.splice(index, 1);
    if (fault === undefined) forward(upstream, stream, headers);
    else void strikeCall(fault, upstream, stream, headers);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return {
    address: `127.0.0.1:${address.port}`,
    calls: (method) => calls.get(method) ?? 0,
    strike: (...added) => void faults.push(...added),
    isSpent: () => faults.length === 0,
    throttle: (number, only) => {
      throttling = { calls: number, method: only };
    },
    throttled: () => throttled,
    close: async () => {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function forward(upstream: ClientHttp2Session, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  const call = upstream.request(headers, { endStream: false });
  let trailers: IncomingHttpHeaders = {};
  stream.pipe(call);
  stream.on('aborted', () => call.close(constants.NGHTTP2_CANCEL));
  call.on('error', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
  call.on('response', (response) => {
    if (stream.destroyed) return;
    // A failed call has its status here, and no trailers.
    if (response['grpc-status'] === undefined) stream.respond(response, { waitForTrailers: true });
    else stream.respond(response, { endStream: true });
  });
  call.on('trailers', (received) => {
    trailers = received;
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  call.on('data', (bytes: Buffer) => stream.write(bytes));
  call.on('end', () => stream.end());
}

async function strikeCall(
  { isForwarded, meanwhile, status }: CallFault,
  upstream: ClientHttp2Session,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
): Promise<void> {
  if (isForwarded) {
    const call = upstream.request(headers, { endStream: false });
    stream.pipe(call);
    call.resume();
    await once(call, 'end');
  }
  await meanwhile?.();
  if (status === undefined) stream.session?.destroy();
  else answer(stream, status);
}

const RESOURCE_EXHAUSTED = 8;

function answer(stream: ServerHttp2Stream, status: number): void {
  const headers = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': String(status) };
  stream.respond(headers, { endStream: true });
}
