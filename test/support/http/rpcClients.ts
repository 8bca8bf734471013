import { create, type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ConnectError, createClient, type Interceptor, type Transport } from '@connectrpc/connect';
import {
  compressionBrotli,
  compressionGzip,
  createGrpcTransport,
  createConnectTransport as createNodeConnectTransport,
  createGrpcWebTransport as createNodeGrpcWebTransport,
} from '@connectrpc/connect-node';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-web';
import { credentials, Client as GrpcClient, Metadata } from '@grpc/grpc-js';
import { createServerTransport } from '@zitadel/client/node';
import { createUserServiceClient } from '@zitadel/client/v2';
import { createClientTransport } from '@zitadel/client/web';
import { createAccessTokenInterceptor, createUserClient } from '@zitadel/node/dist/api/index.js';
import { ErrorDetailSchema } from '@zitadel/proto/zitadel/message_pb.js';
import { UserService } from '@zitadel/proto/zitadel/user/v2/user_service_pb.js';
import { UserService as UserServiceBeta } from '@zitadel/proto/zitadel/user/v2beta/user_service_pb.js';
import { z } from 'zod';

/** The methods of the user service that this service implements. */
export type RpcMethod = 'removeOTPEmail' | 'listAuthenticationMethodTypes';

/** The parameters of a call. */
interface RpcCall {
  readonly method: RpcMethod;
  readonly url: string;
  readonly token: string;
  readonly userId: string;
}

/** An unmodified client for ZITADEL's user service. */
export interface RpcClient {
  readonly name: string;
  /** Whether it supports HTTP/2 only. Not every platform forwards HTTP/2. */
  readonly http2?: true;
  /** Returns the response message, or throws the client's own error. */
  call(call: RpcCall): Promise<unknown>;
  /** Converts the client's error to a common form. */
  refusal(thrown: unknown): RpcRefusal;
}

type CreateTransport = (options: { baseUrl: string; interceptors: Interceptor[] }) => Transport;

const authorised =
  (token: string): Interceptor =>
  (next) =>
  (request) => {
    request.header.set('authorization', `Bearer ${token}`);
    return next(request);
  };

function overTransport(createTransport: CreateTransport, service = UserService) {
  return {
    call: ({ method, url, token, userId }: RpcCall) =>
      createClient(service, createTransport({ baseUrl: url, interceptors: [authorised(token)] }))[method]({ userId }),
    refusal: connectRefusal,
  };
}

function betaOverTransport(createTransport: CreateTransport) {
  return {
    call: ({ method, url, token, userId }: RpcCall) =>
      createClient(UserServiceBeta, createTransport({ baseUrl: url, interceptors: [authorised(token)] }))[method]({
        userId,
      }),
    refusal: connectRefusal,
  };
}

const gzipped = { sendCompression: compressionGzip, compressMinBytes: 0 };
const brotlied = { sendCompression: compressionBrotli, compressMinBytes: 0 };

/** The clients, each with its protocols. */
export const rpcClients: readonly RpcClient[] = [
  {
    name: '@zitadel/client for web: gRPC-Web',
    call: ({ method, url, token, userId }) =>
      createUserServiceClient(createClientTransport(token, { baseUrl: url }))[method]({ userId }),
    refusal: connectRefusal,
  },
  {
    name: '@zitadel/client for Node: gRPC',
    http2: true,
    call: ({ method, url, token, userId }) =>
      createUserServiceClient(createServerTransport(token, { baseUrl: url }))[method]({ userId }),
    refusal: connectRefusal,
  },
  {
    name: '@zitadel/node: gRPC, v2beta',
    http2: true,
    call: ({ method, url, token, userId }) =>
      createUserClient(url, createAccessTokenInterceptor(token))[method]({ userId }),
    refusal: niceGrpcRefusal,
  },
  { name: '@grpc/grpc-js: gRPC', http2: true, call: callByGrpcJs, refusal: grpcJsRefusal },
  {
    name: '@connectrpc/connect-node: gRPC, gzip',
    http2: true,
    ...overTransport((options) => createGrpcTransport({ ...options, ...gzipped })),
  },
  {
    name: '@connectrpc/connect-node: gRPC, JSON, v2beta',
    http2: true,
    ...betaOverTransport((options) => createGrpcTransport({ ...options, useBinaryFormat: false })),
  },
  {
    name: '@connectrpc/connect-node: gRPC-Web, HTTP/2',
    http2: true,
    ...overTransport((options) => createNodeGrpcWebTransport({ ...options, httpVersion: '2' })),
  },
  {
    name: '@connectrpc/connect-node: gRPC-Web, HTTP/1.1, brotli',
    ...overTransport((options) => createNodeGrpcWebTransport({ ...options, httpVersion: '1.1', ...brotlied })),
  },
  {
    name: '@connectrpc/connect-node: Connect, binary, HTTP/2, gzip',
    http2: true,
    ...overTransport((options) => createNodeConnectTransport({ ...options, httpVersion: '2', ...gzipped })),
  },
  {
    name: '@connectrpc/connect-node: Connect, JSON, HTTP/1.1',
    ...overTransport((options) =>
      createNodeConnectTransport({ ...options, httpVersion: '1.1', useBinaryFormat: false }),
    ),
  },
  { name: '@connectrpc/connect-web: gRPC-Web', ...overTransport(createGrpcWebTransport) },
  { name: '@connectrpc/connect-web: Connect, JSON', ...overTransport(createConnectTransport) },
  {
    name: '@connectrpc/connect-web: Connect, binary, v2beta',
    ...betaOverTransport((options) => createConnectTransport({ ...options, useBinaryFormat: true })),
  },
];

function callByGrpcJs({ method, url, token, userId }: RpcCall): Promise<unknown> {
  const { parent, name, input, output } = UserService.method[method];
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const { host, protocol } = new URL(url);
  const client = new GrpcClient(host, protocol === 'https:' ? credentials.createSsl() : credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  client.makeUnaryRequest(
    `/${parent.typeName}/${name}`,
    (id: string) => Buffer.from(toBinary<DescMessage>(input, create<DescMessage>(input, { userId: id }))),
    (bytes) => fromBinary<DescMessage>(output, bytes),
    userId,
    metadata,
    (error, response) => {
      client.close();
      if (error === null) resolve(response);
      else reject(error);
    },
  );
  return promise;
}

/** The reason why an RPC was rejected, as its client reports it. */
export interface RpcRefusal {
  /** The code of gRPC. */
  readonly code: number;
  readonly message: string;
  /** The id in ZITADEL's error detail. Undefined without an id, null if the client does not return details. */
  readonly id: string | undefined | null;
}

const nice = z.looseObject({ code: z.int(), details: z.string() });
const grpcJs = nice.extend({ metadata: z.instanceof(Metadata) });

/** Returns the refusal from an error of a client that uses Connect. */
function connectRefusal(thrown: unknown): RpcRefusal {
  if (!(thrown instanceof ConnectError)) throw thrown;
  const [detail] = thrown.findDetails(ErrorDetailSchema);
  return { code: thrown.code, message: thrown.rawMessage, id: detail?.id };
}

/** Returns the refusal from an error of a client that uses nice-grpc. */
function niceGrpcRefusal(thrown: unknown): RpcRefusal {
  const { code, details } = nice.parse(thrown);
  return { code, message: details, id: null };
}

/** Returns the refusal from an error of grpc-js, which does not decode details. */
function grpcJsRefusal(thrown: unknown): RpcRefusal {
  const { code, details, metadata } = grpcJs.parse(thrown);
  const status = metadata.get('grpc-status-details-bin').map((bytes) => bytes.toString('latin1'));
  const [, id] = /zitadel\.v1\.ErrorDetail[^A-Z]*([A-Z]+-\w+)/.exec(status.join('')) ?? [];
  return { code, message: details, id };
}
