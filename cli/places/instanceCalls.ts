// Calls of the operations of an instance.

import { IdentityError } from '../../shared/errors/identityError.ts';
import type { PlaceOperation } from '../exports/placeInterfaces.ts';
import { callBriefly, callServer, type HttpCall, type HttpResponse } from '../httpClient.ts';
import { type CalledInstance, responseError } from './instanceResponses.ts';

/** An instance with the token for it. */
export interface InstanceSettings extends CalledInstance {
  readonly token: string;
}

type OperationCall = Pick<HttpCall, 'accept' | 'asksFirst' | 'contentType' | 'body'> & {
  readonly operation: PlaceOperation;
  readonly query?: string;
};

/** Returns a call of an operation with a JSON request. */
export function jsonCall(operation: PlaceOperation, request: object): OperationCall {
  return { operation, body: [Buffer.from(JSON.stringify(request))] };
}

/** Returns the request of an operation's call. */
export function operationCall(
  { token }: InstanceSettings,
  { operation, query, ...call }: OperationCall,
  method: HttpCall['method'] = 'POST',
): HttpCall {
  const path = `/admin/v1/${operation}${query === undefined ? '' : `?${query}`}`;
  return { method, path, token, ...call };
}

/**
 * Calls an operation.
 * @throws IdentityError for a response with another status
 */
export async function callOperation(
  settings: InstanceSettings,
  call: OperationCall,
  statuses: readonly number[],
  signal: AbortSignal,
): Promise<HttpResponse> {
  const response = await callServer(settings.origin, operationCall(settings, call), signal);
  if (statuses.includes(response.status)) return response;
  using failed = response;
  throw await responseError(settings, failed);
}

/** The parameters of the queries that delete transfers. */
const parameters: Readonly<Record<PlaceOperation, string>> = { export: 'object', import: 'upload' };

/** The file of an export or an import in the bucket of an instance, until it is deleted. */
export class HeldFile {
  private readonly settings: InstanceSettings;
  private readonly operation: PlaceOperation;
  private id: string | undefined;

  constructor(settings: InstanceSettings, operation: PlaceOperation, id?: string) {
    this.settings = settings;
    this.operation = operation;
    this.id = id;
  }

  /** Holds another file. */
  hold(id: string): void {
    this.id = id;
  }

  /**
   * Deletes the file, which the bucket deletes a day later by itself.
   * @param signal by default, only the time limit of a call ends the deletion
   * @returns why the file still exists; undefined if it does not
   * @throws the signal's reason
   */
  async delete(signal = new AbortController().signal): Promise<string | undefined> {
    const { settings, operation, id } = this;
    this.id = undefined;
    if (id === undefined) return undefined;
    const call = operationCall(settings, { operation, query: `${parameters[operation]}=${id}` }, 'DELETE');
    try {
      return await callBriefly(settings.origin, call, signal, async (response) => {
        if (response.status === 200 || response.status === 404) return undefined;
        return keptFile(settings, operation, (await responseError(settings, response)).text);
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof IdentityError)) throw error;
      return keptFile(settings, operation, error.text);
    }
  }

  /** Deletes the file after an error. Returns the error, which names a file that still exists. */
  async deleteAfter(error: unknown): Promise<unknown> {
    const kept = await this.delete();
    return kept === undefined ? error : IdentityError.from(error).withNote(kept);
  }
}

function keptFile({ origin }: InstanceSettings, operation: PlaceOperation, problem: string): string {
  return `the file of the ${operation} remains in the bucket of ${origin} for up to two days: it could not be deleted (${problem})`;
}
