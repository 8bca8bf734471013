import { once } from 'node:events';
import { constants } from 'node:http2';
import { describe, expect, it, onTestFinished } from 'vitest';
import { routes as exportRoutes } from '../../../functions/export/app.ts';
import { routes as importRoutes } from '../../../functions/import/app.ts';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import { createApp, type Route } from '../../../shared/http/app.ts';
import type { RequestLine } from '../../../shared/http/requestLog.ts';
import { serve } from '../../../shared/http/server.ts';
import { defaultLimits } from '../../../shared/limits.ts';
import { configureLog } from '../../../shared/log.ts';
import { decorateStore, type Snapshot, type Store, type Write } from '../../../shared/store/store.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { connectHttp2, openStream } from '../../support/http/http2.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import { watchedStore } from '../../support/stores/watchedStore.ts';

const PEOPLE = 2_000;
const large = organisation('large', {
  humanUsers: Array.from({ length: PEOPLE }, (_, number) => person(`P${number}`)),
});
const body = JSON.stringify({ data_orgs: { orgs: [large] } });
const noBucket = () => Promise.reject(new Error('these tests have no bucket'));

/** A request to a server whose store, once it writes or reads people, waits until the client has disconnected. */
interface Watched {
  /** Resolves when the work has reached the people, or waits for the lock. */
  readonly begun: PromiseWithResolvers<void>;
  /** Resolves when the server has noticed the disconnection. */
  readonly left: PromiseWithResolvers<void>;
  /** Resolves when the work has ended, with its error if it failed. */
  readonly ended: PromiseWithResolvers<unknown>;
  /** Resolves when the request is logged as finished. */
  readonly finished: PromiseWithResolvers<RequestLine>;
  /** The number of people written or read by then. */
  people: number;
}

async function watchedServer() {
  configureLog('silent');
  const store = await openTestStore(sqlite);
  const { token } = await initialise(store, { name: 'test' }, 86_400_000, new Date());
  const watched: Watched = {
    begun: Promise.withResolvers(),
    left: Promise.withResolvers(),
    ended: Promise.withResolvers(),
    finished: Promise.withResolvers(),
    people: 0,
  };
  const limits = defaultLimits('selfHosted');
  const bucket = { write: noBucket, pin: noBucket };
  const ports = {
    store: waiting(store, watched),
    objectStorage: bucket,
    audit: memoryTrail().audit,
    now: () => new Date(),
    limits,
  };
  const fill = async () => {
    const headers = { authorization: `Bearer ${token}` };
    const app = createApp({ routes: importRoutes({ ...ports, store }) });
    expect((await app.request('/admin/v1/import', { method: 'POST', headers, body })).status).toBe(200);
  };
  const routes = [...importRoutes(ports), ...exportRoutes(ports)].map((route) => toldOf(route, watched));
  const observer = { started: () => {}, finished: watched.finished.resolve };
  const serving = await serve({ app: createApp({ routes, observer }), host: '127.0.0.1', port: 0 });
  onTestFinished(async () => void (await serving.close()));
  return { url: serving.url, token, watched, fill, store };
}

function toldOf(route: Route, { left, ended }: Watched): Route {
  return {
    ...route,
    handler: async (context) => {
      context.req.raw.signal.addEventListener('abort', () => left.resolve());
      try {
        return await route.handler(context);
      } catch (reason) {
        ended.resolve(reason);
        throw reason;
      }
    },
  };
}

function waiting(store: Store, watched: Watched): Store {
  const wrote = async (writes: readonly Write[]) => {
    const people = writes.filter(({ key }) => key.collection === 'users').length;
    watched.people += people;
    if (people > 0) await untilLeft(watched);
  };
  return decorateStore(watchedStore(store, wrote), (inner) => ({
    lock: { ...inner.lock, take: (request) => inner.lock.take({ ...request, onWait: () => watched.begun.resolve() }) },
    snapshot: async () => waitingSnapshot(await inner.snapshot(), watched),
  }));
}

function waitingSnapshot(snapshot: Snapshot, watched: Watched): Snapshot {
  let isOfExport = false;
  return {
    ...snapshot,
    async *scan(range) {
      if (range.collection !== 'users') return yield* snapshot.scan(range);
      isOfExport = true;
      for await (const some of snapshot.scan(range)) {
        watched.people += some.length;
        await untilLeft(watched);
        yield some;
      }
    },
    [Symbol.asyncDispose]: async () => {
      await snapshot[Symbol.asyncDispose]();
      if (isOfExport) watched.ended.resolve(undefined);
    },
  };
}

function untilLeft({ begun, left }: Watched): Promise<void> {
  begun.resolve();
  return left.promise;
}

/** Sends a request, and disconnects once the work has reached the people. */
type Leave = (url: string, path: string, token: string, body: string, begun: Promise<void>) => Promise<void>;

const clients: readonly { readonly version: string; readonly leave: Leave }[] = [
  {
    version: 'HTTP/1.1',
    leave: async (url, path, token, body, begun) => {
      const controller = new AbortController();
      const headers = { authorization: `Bearer ${token}` };
      const answer = fetch(`${url}${path}`, { method: 'POST', headers, body, signal: controller.signal });
      answer.then((response) => response.text()).catch(() => undefined);
      await begun;
      controller.abort();
    },
  },
  {
    version: 'HTTP/2',
    leave: async (url, path, token, body, begun) => {
      const session = await connectHttp2(url);
      const stream = openStream(session, { method: 'POST', path, headers: { authorization: `Bearer ${token}` } });
      stream.end(body);
      await begun;
      stream.close(constants.NGHTTP2_CANCEL);
      await once(stream, 'close');
      // Unlike `destroy`, this sends the cancellation of the stream to the server.
      session.close();
      await once(session, 'close');
    },
  },
];

describe.each(clients)('a client that disconnects over $version', ({ leave }) => {
  it('stops its import', async () => {
    const { url, token, watched } = await watchedServer();
    await leave(url, '/admin/v1/import', token, body, watched.begun.promise);
    const reason = await watched.ended.promise;
    expect(reason).toBeInstanceOf(IdentityError);
    expect(reason).toMatchObject({ code: 'CANCELLED' });
    expect(watched.people).toBeGreaterThan(0);
    expect(watched.people).toBeLessThan(PEOPLE / 2);
  });

  it('stops its export, and closes the snapshot', async () => {
    const { url, token, watched, fill } = await watchedServer();
    await fill();
    await leave(url, '/admin/v1/export', token, '{"response_output":true}', watched.begun.promise);
    await watched.ended.promise;
    expect(watched.people).toBeGreaterThan(0);
    expect(watched.people).toBeLessThan(PEOPLE / 2);
  });

  it('ends the wait of its import for the lock, and leaves the lock to others', async () => {
    const { url, token, watched, fill, store } = await watchedServer();
    const { signal } = new AbortController();
    const held = await store.lock.take({ mode: 'alone', operation: 'org delete', caller: 'test', signal });
    await leave(url, '/admin/v1/import', token, body, watched.begun.promise);
    expect(await watched.ended.promise).toMatchObject({ code: 'CANCELLED' });
    expect(await watched.finished.promise).toMatchObject({ status: 499 });
    expect(watched.people).toBe(0);
    await held[Symbol.asyncDispose]();
    await fill();
  });

  it('is logged with status 499, although it gets no response', async () => {
    const { url, token, watched } = await watchedServer();
    await leave(url, '/admin/v1/import', token, body, watched.begun.promise);
    expect(await watched.finished.promise).toMatchObject({ route: '/admin/v1/import', status: 499 });
  });
});
