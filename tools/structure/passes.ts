import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Agent, IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { startInstance } from '../../local/instance.ts';
import { createServiceAccount } from '../../local/storage/createServiceAccount.ts';
import { startStorage } from '../../local/storage/startStorage.ts';
import { configureLog } from '../../shared/log.ts';
import { startCoverage } from './coverage.ts';

/** The files of the functions and of what they share that one request of a kind passes, by their paths. */
export interface Passes {
  readonly removal: readonly string[];
  readonly importOfOneUser: readonly string[];
  readonly exportToBucket: readonly string[];
}

interface Call {
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
}

const BUCKET = 'exports';

/**
 * Measures which files one request of each kind passes: those of which a function is called from the request's arrival
 * until its response has been read. The requests go over HTTP to an instance in this process with an embedded database.
 * An equal request precedes each, so that neither what is loaded by the first call nor its connection is counted.
 */
export async function measurePasses(root: string): Promise<Passes> {
  await using resources = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'identity-structure-'));
  resources.defer(() => rm(directory, { recursive: true }));
  const { send, key } = await startTarget(directory, resources);
  const coverage = resources.use(await startCoverage(root));
  const measure = async (calls: readonly [Call, Call]): Promise<readonly string[]> => {
    await send(calls[0]);
    const passed = await coverage.filesPassed(() => send(calls[1]));
    return passed.filter((path) => /^(?:functions|shared)\//.test(path));
  };
  return {
    importOfOneUser: await measure([importCall('1'), importCall('2')]),
    removal: await measure([removalCall('1'), removalCall('2')]),
    exportToBucket: await measure([exportCall('1.json', key), exportCall('2.json', key)]),
  };
}

/** Starts an instance beside a stand-in of Cloud Storage; returns how to call it, and a key for the stand-in's bucket. */
async function startTarget(directory: string, resources: AsyncDisposableStack) {
  // An instance would use the emulator, where one is pointed to, instead of its embedded database.
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
  const send = (call: Call) => sendTo(instance.url, token, agent, call);
  return { send, key: Buffer.from(account.json).toString('base64') };
}

async function sendTo(url: string, token: string, agent: Agent, { method, path, body }: Call): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const sent = request(`${url}${path}`, { method, headers, agent });
  const received = once(sent, 'response');
  sent.end(body && JSON.stringify(body));
  const [response] = z.tuple([z.instanceof(IncomingMessage)]).parse(await received);
  const content = await text(response);
  if (response.statusCode !== 200) throw new Error(`${method} ${path}: ${response.statusCode} ${content}`);
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

function exportCall(path: string, serviceaccount_json: string): Call {
  const gcs_output = { bucket: BUCKET, path, serviceaccount_json };
  return { method: 'POST', path: '/admin/v1/export', body: { timeout: '1m', gcs_output } };
}
