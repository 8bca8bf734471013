// Servers of this service, and how to call them.

import { defined } from '../../shared/defined.ts';
import type { ExportFile } from '../exports/placeInterfaces.ts';
import { callServer, type HttpCall, type HttpResponse } from '../http/httpClient.ts';
import type { Patience } from '../http/reconnection.ts';

/** A request to a server. The body is in memory, or is an export file. */
export interface ServerCall extends Omit<HttpCall, 'token' | 'body'> {
  readonly body?: Iterable<Uint8Array>;
  readonly file?: ExportFile;
}

/**
 * Sends a request.
 * @throws IdentityError without a response, or if the connection breaks while the caller reads the response; the errors
 * of the file; the signal's reason
 */
type Send = (call: ServerCall, signal: AbortSignal) => Promise<HttpResponse>;

/** A server of this service: an instance at its address, or the application on a database in this process. */
export interface Server {
  /** The place's name in messages. */
  readonly name: string;
  readonly send: Send;
  /** Whether the server has an address. Proxies in front of such a server may limit the length of a query. */
  readonly isRemote: boolean;
  /** The option that specifies the token's file. */
  readonly tokenOption: string;
  /** Undefined if the user entered the token at the terminal. */
  readonly tokenFile?: string | undefined;
  /** Reports a wait before a repeated call. Undefined for a server in this process, because its errors are final. */
  readonly onRetry?: Patience['onRetry'];
}

/** The address of an instance of this service or of ZITADEL, with its token. */
export interface InstanceSettings extends Pick<Server, 'tokenOption' | 'tokenFile' | 'onRetry'> {
  readonly origin: string;
  readonly token: string;
}

/** Returns the server at an address. Calls use the network. */
export function overNetwork({ origin, token, tokenOption, tokenFile, onRetry }: InstanceSettings): Server {
  return {
    name: origin,
    tokenOption,
    tokenFile,
    onRetry,
    isRemote: true,
    send: ({ file, ...call }, signal) =>
      callServer(origin, { ...call, ...defined({ body: file?.open(signal) }), token }, signal),
  };
}
