import { defined } from '../../shared/defined.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { type RecordWarning, warn } from '../../shared/errors/warnings.ts';
import type { ExportFile, PlaceOperation } from '../exports/placeInterfaces.ts';
import { callBriefly, type HttpResponse } from '../http/httpClient.ts';
import { isLater } from '../http/laterResponse.ts';
import { patiently } from '../http/reconnection.ts';
import type { Server, ServerCall } from './calledServer.ts';
import { responseError } from './instanceResponses.ts';

type OperationCall = Omit<ServerCall, 'method' | 'path'> & {
  readonly operation: PlaceOperation;
  readonly query?: string;
};

export function jsonCall(operation: PlaceOperation, request: object): OperationCall {
  return { operation, body: [Buffer.from(JSON.stringify(request))] };
}

export function operationCall(
  { operation, query, ...call }: OperationCall,
  method: ServerCall['method'] = 'POST',
): ServerCall {
  const path = `/admin/v1/${operation}${query === undefined ? '' : `?${query}`}`;
  return { method, path, ...call };
}

/**
 * Calls an export or an import. Repeats the call if the response asks for a repetition, unless the call has read a file
 * that can be read only once.
 * @param statuses the statuses of a successful response
 * @throws IdentityError for a response with another status
 */
export async function callOperation(
  server: Server,
  call: OperationCall,
  statuses: readonly number[],
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { file } = call;
  let isSpent = false;
  const observed = file && {
    ...file,
    async *open(...args: Parameters<ExportFile['open']>) {
      isSpent = !file.isRepeatable;
      yield* file.open(...args);
    },
  };
  const attempt = () => callOnce(server, { ...call, ...defined({ file: observed }) }, statuses, signal);
  try {
    return await patiently({ onRetry: server.onRetry, signal }, attempt, (error) => isLater(error) && !isSpent);
  } catch (error) {
    throw isSpent && isLater(error) ? error.withNote(READ_ONCE) : error;
  }
}

const READ_ONCE = 'this command cannot repeat the call, because the source can be read only once';

/** @throws IdentityError for a response whose status is not in `statuses` */
export async function callOnce(
  server: Server,
  call: OperationCall,
  statuses: readonly number[],
  signal: AbortSignal,
): Promise<HttpResponse> {
  const response = await server.send(operationCall(call), signal);
  if (statuses.includes(response.status)) return response;
  await using failed = response;
  throw await responseError(server, failed);
}

/** Names of the query parameters that specify which stored file to delete. */
const parameters: Readonly<Record<PlaceOperation, string>> = { export: 'object', import: 'upload' };

/**
 * A file in the bucket of an instance, which an export or an import has stored there. The command must delete the file
 * afterwards.
 */
export class HeldFile {
  private readonly server: Server;
  private readonly operation: PlaceOperation;
  private id: string | undefined;

  constructor(server: Server, operation: PlaceOperation, id?: string) {
    this.server = server;
    this.operation = operation;
    this.id = id;
  }

  hold(id: string): void {
    this.id = id;
  }

  /**
   * Deletes the file. If this fails, the instance's bucket deletes the file after a day.
   * @param signal stops the deletion. Without a signal, only a time limit stops the deletion
   * @returns a warning if the file may still exist; undefined if the file was deleted
   * @throws the signal's reason after an abort
   */
  async delete(signal = new AbortController().signal): Promise<RecordWarning | undefined> {
    const { server, operation, id } = this;
    this.id = undefined;
    if (id === undefined) return undefined;
    const call = operationCall({ operation, query: `${parameters[operation]}=${id}` }, 'DELETE');
    try {
      // A failed deletion is not repeated, because the bucket deletes the file after a day.
      await callBriefly({ ...server, onRetry: undefined }, call, signal, async (response) => {
        if (response.status !== 200 && response.status !== 404) throw await responseError(server, response);
      });
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof IdentityError)) throw error;
      return keptFile(server, operation, error.text);
    }
  }

  /**
   * Deletes the file after an error. Returns the error to throw, to which a note is added if the file may still exist.
   */
  async deleteAfter(error: unknown): Promise<unknown> {
    const kept = await this.delete();
    return kept === undefined ? error : IdentityError.from(error).withNote(kept.message);
  }
}

function keptFile({ name }: Server, operation: PlaceOperation, problem: string): RecordWarning {
  return warn('file_kept', { operation, instance: name, problem });
}
