import { generateKeyPairSync } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { startLocalBucket } from '../support/emulators/localBucket.ts';
import { post, removeOtpEmail } from '../support/http/wire.ts';
import { startAbusedSqlite } from './support/abusedServer.ts';
import { askMeanwhile } from './support/requests.ts';

const REQUESTS = 200;

/** An export with an account of this key, which is unknown to every bucket. */
function exportWith(privateKey: string) {
  const account = { type: 'service_account', client_email: 'a@b.iam.gserviceaccount.com', private_key: privateKey };
  const serviceaccount_json = Buffer.from(JSON.stringify(account)).toString('base64');
  return { gcs_output: { bucket: 'exports', path: 'keys', serviceaccount_json } };
}

/** A fake key of 32,768 bits: creating a real one takes minutes. */
function longKey(): string {
  const base64 = Buffer.alloc(16_000, 0x7f).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${base64.replace(/.{1,64}/g, '$&\n')}-----END PRIVATE KEY-----\n`;
}

it('exports with large keys do not hold up removals', async () => {
  const pem = (modulusLength: number) =>
    generateKeyPairSync('rsa', { modulusLength }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  // Before the first request: creating a key takes seconds, in which this process would not see that the server closes an
  // idle connection.
  const [short, long, largest] = [pem(1_024), pem(4_098), pem(4_096)];
  const bucket = await startLocalBucket();
  onTestFinished(() => bucket.close());
  const server = await startAbusedSqlite({ STORAGE_EMULATOR_HOST: bucket.url });
  for (const key of [short, long]) {
    const answer = await post(server, 'export', exportWith(key));
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('must have 2048 to 4096 bits') });
  }
  expect(await post(server, 'export', exportWith(longKey()))).toMatchObject({
    status: 400,
    text: expect.stringContaining('private_key: too long'),
  });
  const request = exportWith(largest);
  const exports = Array.from({ length: REQUESTS }, async () => (await post(server, 'export', request)).status);
  const { result, answered } = await askMeanwhile(Promise.all(exports), async () => {
    expect((await removeOtpEmail(server, 'unknown')).status).toBe(404);
  });
  expect(result.filter((status) => status !== 400 && status !== 429)).toEqual([]);
  expect(result).toContain(400);
  expect(answered).toBeGreaterThan(0);
  await server.expectSound();
});
