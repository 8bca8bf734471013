import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { startInstance } from '../../local/instance.ts';
import { startStorage } from '../../local/storage/server.ts';
import { createServiceAccount } from '../../local/storage/serviceAccountKey.ts';
import { configureLog } from '../../shared/log.ts';

const BUCKET = 'exports';

/** A request to the instance. */
interface Call {
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
}

/** The files of the functions and of what they share that one request of a kind passes, by their paths. */
interface Passes {
  readonly removal: readonly string[];
  readonly importOfOneUser: readonly string[];
  readonly exportToBucket: readonly string[];
}

/**
 * Measures which files one request of each kind passes: those of which a function is called from the request's start
 * until its response has been read. An equal request precedes each on the same connection, so that what happens once
 * per connection or when a module is loaded does not count.
 */
export async function measurePasses(root: string): Promise<Passes> {
  await using resources = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'identity-structure-'));
  resources.defer(() => rm(directory, { recursive: true }));
  // A configured emulator would replace the instance's embedded database.
  delete process.env.FIRESTORE_EMULATOR_HOST;
  configureLog('silent');
  const account = await createServiceAccount({ file: join(directory, 'key.json'), name: 'exporter' });
  const storage = await startStorage({ directory: join(directory, 'objects'), port: 0, account, bucket: BUCKET });
  resources.defer(() => storage.close());
  const place = { name: 'structure', directory: join(directory, 'instance'), port: 0, fill: async () => {} };
  const instance = await startInstance({ ...place, storageUrl: storage.url });
  resources.defer(() => instance.close());
  const token = await readFile(instance.tokenFile, 'utf8');
  const session = resources.adopt(new Session(), (connected) => connected.disconnect());
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const measure = async (first: Call, second: Call): Promise<readonly string[]> => {
    await send(instance.url, token, first);
    await calledFiles(session, root);
    await send(instance.url, token, second);
    return (await calledFiles(session, root)).filter((path) => /^(?:functions|shared)\//.test(path));
  };
  const bucket = { bucket: BUCKET, serviceaccount_json: Buffer.from(account.json).toString('base64') };
  return {
    importOfOneUser: await measure(importCall('1'), importCall('2')),
    removal: await measure(removalCall('1'), removalCall('2')),
    exportToBucket: await measure(exportCall({ ...bucket, path: '1.json' }), exportCall({ ...bucket, path: '2.json' })),
  };
}

/** Sends a request as the instance's owner; `fetch` uses the same connection again. */
async function send(url: string, token: string, { method, path, body }: Call): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  const content = await response.text();
  if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${content}`);
}

/** Returns the files with a function that was called since the last invocation. */
async function calledFiles(session: Session, root: string): Promise<readonly string[]> {
  // The server may end its part of an exchange after the client, but in the same turn of the event loop.
  await setImmediate();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const below = pathToFileURL(`${root}${sep}`).href;
  const called = result.filter(({ url, functions }) => url.startsWith(below) && functions.some(wasCalled));
  return called.map(({ url }) => relative(root, fileURLToPath(url)).replaceAll(sep, '/')).sort();
}

/** Whether a function was called. The one that begins where its file does is the module itself, and does not count. */
function wasCalled({ ranges: [body] }: { ranges: { startOffset: number; count: number }[] }): boolean {
  return body !== undefined && body.startOffset > 0 && body.count > 0;
}

function importCall(id: string): Call {
  const profile = { firstName: 'First', lastName: 'Last' };
  const email = { email: `user-${id}@example.com`, isEmailVerified: true };
  const humanUsers = [{ userId: id, otpEmail: true, user: { userName: `user-${id}`, profile, email } }];
  const orgs = [{ orgId: `org-${id}`, org: { name: `Organisation ${id}` }, humanUsers }];
  return { method: 'POST', path: '/admin/v1/import', body: { timeout: '1m', data_orgs: { orgs } } };
}

function removalCall(userId: string): Call {
  return { method: 'DELETE', path: `/v2/users/${userId}/otp_email` };
}

function exportCall(gcs_output: object): Call {
  return { method: 'POST', path: '/admin/v1/export', body: { timeout: '1m', gcs_output } };
}
