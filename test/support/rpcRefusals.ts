import { ConnectError } from '@connectrpc/connect';
import { Metadata } from '@grpc/grpc-js';
import { ErrorDetailSchema } from '@zitadel/proto/zitadel/message_pb.js';
import { z } from 'zod';

/** Why an RPC was refused, as its client tells it. */
export interface RpcRefusal {
  /** gRPC's. */
  readonly code: number;
  readonly message: string;
  /** The id in ZITADEL's error detail; undefined where there is none, null where the client does not show details. */
  readonly id: string | undefined | null;
}

const nice = z.looseObject({ code: z.int(), details: z.string() });
const grpcJs = nice.extend({ metadata: z.instanceof(Metadata) });

/** Of the clients that are made with Connect. */
export function connectRefusal(thrown: unknown): RpcRefusal {
  if (!(thrown instanceof ConnectError)) throw thrown;
  const [detail] = thrown.findDetails(ErrorDetailSchema);
  return { code: thrown.code, message: thrown.rawMessage, id: detail?.id };
}

/** Of those that are made with nice-grpc. */
export function niceGrpcRefusal(thrown: unknown): RpcRefusal {
  const { code, details } = nice.parse(thrown);
  return { code, message: details, id: null };
}

/** Of grpc-js, which leaves details to be decoded by whoever knows their types. */
export function grpcJsRefusal(thrown: unknown): RpcRefusal {
  const { code, details, metadata } = grpcJs.parse(thrown);
  const status = metadata.get('grpc-status-details-bin').map((bytes) => bytes.toString('latin1'));
  const [, id] = /zitadel\.v1\.ErrorDetail[^A-Z]*([A-Z]+-\w+)/.exec(status.join('')) ?? [];
  return { code, message: details, id };
}
