// Servers of this service, and the ways to call them.

import { defined } from '../../shared/defined.ts';
import type { ExportFile } from '../exports/placeInterfaces.ts';
import { callServer, type HttpCall, type HttpResponse } from '../http/httpClient.ts';
import type { Patience } from '../http/reconnection.ts';

/** A call of a server. Its body is either in memory or an export file. */
export interface ServerCall extends Omit<HttpCall, 'token' | 'body'> {
  readonly body?: Iterable<Uint8Array>;
  readonly file?: ExportFile;
}

/**
 * Sends a call.
 * @throws IdentityError when there is no response, or while the response is read; the errors of the call's file; the
 * signal's reason
 */
type Send = (call: ServerCall, signal: AbortSignal) => Promise<HttpResponse>;

/** A server of this service: an instance at its address, or the application on a database in this process. */
export interface Server {
  /** The place's name in messages. */
  readonly name: string;
  readonly send: Send;
  /** Whether the server has an address. If so, proxies may limit the length of a query. */
  readonly isRemote: boolean;
  /** The option of the token's file. */
  readonly tokenOption: string;
  /** Undefined for a token that was entered at the terminal. */
  readonly tokenFile?: string | undefined;
  /** Reports a wait before a call is repeated. Undefined for a server in this process, whose errors are final. */
  readonly onRetry?: Patience['onRetry'];
}

/** The address of an instance of this service or of ZITADEL, with its token. */
export interface InstanceSettings extends Pick<Server, 'tokenOption' | 'tokenFile' | 'onRetry'> {
  readonly origin: string;
  readonly token: string;
}

/** Returns the server at an address. */
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
