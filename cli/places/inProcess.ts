import { allRoutes } from '../../functions/endpoints.ts';
import { openAudit, systemAccount } from '../../shared/audit/openAudit.ts';
import { asOperator } from '../../shared/auth/authorise.ts';
import type { Config } from '../../shared/config.ts';
import { defined } from '../../shared/defined.ts';
import { createApp } from '../../shared/http/app.ts';
import type { LocalCall } from '../../shared/http/nodeResponse.ts';
import { noLimits } from '../../shared/limits.ts';
import { openObjectStorage } from '../../shared/objectStorage/openObjectStorage.ts';
import type { StoreLocation } from '../../shared/store/openStore.ts';
import type { Store } from '../../shared/store/store.ts';
import { makeRepeatable } from '../exports/fileContent.ts';
import type { HttpResponse } from '../http/httpClient.ts';
import type { Server, ServerCall } from './calledServer.ts';

interface OpenDatabase extends Partial<Pick<Config, 'bcryptCost'>> {
  readonly store: Store;
  readonly location: StoreLocation;
}

/**
 * Returns a server for a database, which handles calls in this process. The limits of a server, such as the maximum
 * size of a file, do not apply. The audit trail records the operating system's account as the caller.
 * @param open opens the database, once for each call
 */
export function inProcess(name: string, open: () => Promise<OpenDatabase & AsyncDisposable>): Server {
  return {
    name,
    isRemote: false,
    tokenOption: '',
    async send(call, signal) {
      await using resources = new AsyncDisposableStack();
      const { store, location, bcryptCost } = resources.use(await open());
      const audit = openAudit(store, { storeLocation: location }, process.stderr);
      resources.defer(() => audit.close());
      const routes = await allRoutes({
        store,
        audit,
        objectStorage: openObjectStorage(),
        now: () => new Date(),
        authenticate: asOperator(systemAccount()),
        limits: noLimits,
        bcryptCost,
      });
      const response = await request(createApp({ routes }), call, signal, resources);
      const held = resources.move();
      return { ...response, [Symbol.asyncDispose]: () => held.disposeAsync() };
    },
  };
}

/** The origin in the URLs of requests, which do not leave the process. */
const ORIGIN = 'http://localhost';

/**
 * Lets the application in this process handle a call. Disposing of `resources` stops the call, and waits until the
 * application has finished with it.
 * @throws the errors of reading the call's file; an unexpected error of the application, with its cause
 */
async function request(
  application: ReturnType<typeof createApp>,
  { method, path, accept = 'application/json', contentType = 'application/json', body, file }: ServerCall,
  signal: AbortSignal,
  resources: AsyncDisposableStack,
): Promise<Omit<HttpResponse, keyof AsyncDisposable>> {
  const ending = new AbortController();
  const ends = AbortSignal.any([signal, ending.signal]);
  let failure: unknown;
  const requireNoFailure = () => {
    signal.throwIfAborted();
    if (failure !== undefined) throw failure;
  };
  const onUnexpected = (error: unknown) => {
    failure ??= error;
  };
  const content = file && resources.use(await makeRepeatable(file, signal));
  const readBody = content && (() => observed(content.open(ends), onUnexpected));
  const local: LocalCall = { onUnexpected, ...defined({ readBody }) };
  const sent = new Request(new URL(path, ORIGIN), {
    method,
    headers: { accept, 'content-type': contentType },
    body: body === undefined ? null : Buffer.concat([...body]),
    signal: ends,
  });
  const response = await application.fetch(sent, { local });
  const reader = response.body?.getReader();
  let isRead = reader === undefined;
  const read = async () => {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    isRead = done;
    return value;
  };
  resources.defer(async () => {
    if (isRead) return;
    ending.abort();
    // Read until the response's stream ends or fails. By then the application has written the call's outcome into the
    // audit trail.
    while (!isRead) await read().catch(() => (isRead = true));
  });
  requireNoFailure();
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let chunk = await read(); chunk !== undefined; chunk = await read()) {
      requireNoFailure();
      yield chunk;
    }
    requireNoFailure();
  }
  return { status: response.status, headers: Object.fromEntries(response.headers), body: chunks() };
}

/**
 * If reading fails, passes the error to `onError`, because the error with which the application responds does not
 * contain it.
 */
async function* observed(
  content: AsyncIterable<Uint8Array>,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch (error) {
    onError(error);
    throw error;
  }
}
