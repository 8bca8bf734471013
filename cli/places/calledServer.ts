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
 * @throws IdentityError without a response, or if the connection breaks while the caller reads the response; the errors
 * of reading the file; the signal's reason
 */
type Send = (call: ServerCall, signal: AbortSignal) => Promise<HttpResponse>;

/** An instance of this service: either a server at an address, or the application in this process with a database. */
export interface Server {
  readonly name: string;
  readonly send: Send;
  /** Whether the server has an address. A proxy in front of such a server may limit the length of a query. */
  readonly isRemote: boolean;
  /** The name of the option with the path of the token's file, for errors. */
  readonly tokenOption: string;
  /** Undefined if the user entered the token at the terminal. */
  readonly tokenFile?: string | undefined;
  /**
   * Called before each wait for a repetition of a call. If undefined, calls are not repeated: errors of a server in
   * this process are final.
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
