import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import firestore from '@google-cloud/firestore';
import { grpc } from 'google-gax';
import { expect, it, onTestFinished, vi } from 'vitest';
import { connectFirestore } from '../../../../shared/store/firestore/firestoreConnection.ts';
import { getDocument, runQuery } from '../../../../shared/store/firestore/methods.ts';
import { temporaryDirectory } from '../../../support/processes/temporaryDirectory.ts';

const address = { projectId: 'identity', databaseId: '(default)' };

it('a query whose call was cut before the client was ready sends nothing', async () => {
  const connection = connectFirestore(address, '127.0.0.1:1');
  onTestFinished(() => connection.client.close());
  const sent = vi.spyOn(grpc.Client.prototype, 'makeServerStreamRequest');
  const [deadline, cut] = [new AbortController(), new AbortController()];
  const called = { ...connection, deadline: { signal: deadline.signal, cut: cut.signal } };
  const query = { from: 'users', where: [], orderBy: [] };
  const running = runQuery(called, { parent: connection.parent, query });
  cut.abort(new Error('cut'));
  await expect(running).rejects.toThrow('cut');
  expect(sent).not.toHaveBeenCalled();
});

it('a client whose credentials could not be read reads them again in the next call', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const keyFile = join(directory.path, 'key.json');
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', keyFile);
  const client = new firestore.v1.FirestoreClient({ projectId: 'identity', servicePath: '127.0.0.1', port: 1 });
  onTestFinished(() => client.close());
  const connection = { ...connectFirestore(address, undefined), client };
  const call = () => getDocument(connection, { name: `${connection.parent}/users/ada`, mask: [] });
  await expect(call()).rejects.toThrow(/key\.json/);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { type: 'service_account', client_email: 'a@identity.iam.gserviceaccount.com' };
  await writeFile(
    keyFile,
    JSON.stringify({ ...key, private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) }),
  );
  await expect(call()).rejects.toMatchObject({ code: 14, message: expect.stringContaining('ECONNREFUSED') });
});
