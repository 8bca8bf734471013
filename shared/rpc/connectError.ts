import { ConnectError } from '@connectrpc/connect';
import { ErrorDetailSchema } from '@zitadel/proto/zitadel/message_pb.js';
import { codes, type IdentityError } from '../errors/identityError.ts';

/**
 * An error as the RPC protocols carry it: ZITADEL's message, and where the error has an id, ZITADEL's detail (contract 6.4).
 * Details of other types belong to requests that no RPC makes.
 */
export function connectError({ code, message, id, text }: IdentityError): ConnectError {
  const details = id === undefined ? [] : [{ desc: ErrorDetailSchema, value: { id, message: text } }];
  return new ConnectError(message, codes[code].number, undefined, details);
}
