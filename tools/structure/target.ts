import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { startInstance } from '../../local/instance.ts';
import { startStorage } from '../../local/storage/server.ts';
import { createServiceAccount } from '../../local/storage/serviceAccountKey.ts';
import { configureLog } from '../../shared/log.ts';

/** A request to the instance. */
export interface Call {
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
}

/** An instance in this process, and a bucket beside it. */
export interface Target extends AsyncDisposable {
  readonly bucket: { readonly bucket: string; readonly serviceaccount_json: string };
  /** Sends a request as the instance's owner, always on the same connection; throws unless the status is 200. */
  send(call: Call): Promise<void>;
}

const BUCKET = 'exports';

/** Starts an instance with an embedded database, and a stand-in for Cloud Storage; both keep their state in `directory`. */
export async function startTarget(directory: string): Promise<Target> {
  await using resources = new AsyncDisposableStack();
  // A configured emulator would replace the instance's embedded database.
  delete process.env.FIRESTORE_EMULATOR_HOST;
  configureLog('silent');
  const account = await createServiceAccount({ file: join(directory, 'key.json'), name: 'exporter' });
  const storage = await startStorage({
    directory: join(directory, 'objects'),
    port: 0,
    accounts: [{ ...account, roles: ['objectCreator'], buckets: [BUCKET] }],
  });
  resources.defer(() => storage.close());
  const place = { name: 'structure', directory: join(directory, 'instance'), port: 0, fill: async () => {} };
  const instance = await startInstance({ ...place, storageUrl: storage.url });
  resources.defer(() => instance.close());
  const token = await readFile(instance.tokenFile, 'utf8');
  const agent = resources.adopt(new Agent({ keepAlive: true, maxSockets: 1 }), (used) => used.destroy());
  const running = resources.move();
  return {
    bucket: { bucket: BUCKET, serviceaccount_json: Buffer.from(account.json).toString('base64') },
    send: (call) => send(instance.url, token, agent, call),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function send(url: string, token: string, agent: Agent, { method, path, body }: Call): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const sent = request(`${url}${path}`, { method, headers, agent });
  const received = once(sent, 'response');
  sent.end(body && JSON.stringify(body));
  const [response] = z.tuple([z.instanceof(IncomingMessage)]).parse(await received);
  const content = await text(response);
  if (response.statusCode !== 200) throw new Error(`${method} ${path}: ${response.statusCode} ${content}`);
}
