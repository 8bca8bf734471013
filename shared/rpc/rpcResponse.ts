import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import type { Outgoing } from '../http/exchange.ts';
import { encodeGrpcMessage } from '../http/grpc.ts';
import { trailersAlone } from './grpcWeb.ts';

/**
 * An RPC's answer as a Response. Trailers, which a Response cannot have, are set on `outgoing` and announced by the
 * `trailer` header; where there is no message before them they are the headers, as gRPC and gRPC-Web allow and ZITADEL does.
 */
export async function rpcResponse(
  { status, header, body, trailer }: UniversalServerResponse,
  outgoing: Outgoing | undefined,
): Promise<Response> {
  const bytes = await collect(body ?? []);
  const headers = new Headers(header);
  const alone = bytes.length === 0 ? trailer : trailersAlone(bytes);
  if (alone !== undefined) {
    for (const [name, value] of readable(alone)) headers.set(name, value);
    return new Response(null, { status, headers });
  }
  if (trailer !== undefined) {
    headers.set('trailer', [...trailer.keys()].join(', '));
    outgoing?.addTrailers(Object.fromEntries(readable(trailer)));
  }
  return new Response(bytes, { status, headers });
}

/** The library encodes more of a message than gRPC's own clients decode. */
function readable(trailers: Headers): Headers {
  const copy = new Headers(trailers);
  const message = copy.get('grpc-message');
  if (message !== null) copy.set('grpc-message', encodeGrpcMessage(decodeURIComponent(message)));
  return copy;
}

async function collect(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}
