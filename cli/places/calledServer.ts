import { defined } from '../../shared/defined.ts';
import type { ExportFile } from '../exports/placeInterfaces.ts';
import { callServer, type HttpCall, type HttpResponse } from '../http/httpClient.ts';
import type { Patience } from '../http/reconnection.ts';

/** A request to a server. Its body is either `body`, which is in memory, or `file`. */
export interface ServerCall extends Omit<HttpCall, 'token' | 'body'> {
  readonly body?: Iterable<Uint8Array>;
  readonly file?: ExportFile;
}

/**
 * @throws IdentityError if no response arrives, or if the connection breaks while the caller reads the response; the
 * errors of reading the call's file; the signal's reason after an abort
 */
type Send = (call: ServerCall, signal: AbortSignal) => Promise<HttpResponse>;

/** An instance of this service: either a server at an address, or the application in this process with a database. */
export interface Server {
  readonly name: string;
  readonly send: Send;
  /** True if the server has an address. A proxy in front of the server may then limit the length of a query. */
  readonly isRemote: boolean;
  /** The name of the option with the path of the token's file, for errors. */
  readonly tokenOption: string;
  /** Undefined if the user entered the token at the terminal. */
  readonly tokenFile?: string | undefined;
  /**
   * Called before the wait that precedes a repeated call. Undefined for a server in this process, whose calls are not
   * repeated because all its errors are final.
   */
  readonly onRetry?: Patience['onRetry'];
}

export interface InstanceSettings extends Pick<Server, 'tokenOption' | 'tokenFile' | 'onRetry'> {
  readonly origin: string;
  readonly token: string;
}

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
