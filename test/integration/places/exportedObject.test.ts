import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CRC32C } from '@google-cloud/storage';
import { describe, expect, it } from 'vitest';
import type { FilePlace } from '../../../cli/exports/placeInterfaces.ts';
import { trackStore } from '../../../cli/exports/trackTransfer.ts';
import { openRemote } from '../../../cli/open/remotePlace.ts';
import type { ProgressOutput } from '../../../cli/terminal/progress.ts';
import { defaultExportOptions, NO_ORGANISATION } from '../../../functions/export/contract.ts';
import { responseTooLarge } from '../../../shared/errors/errors.ts';
import { storageFull } from '../../../shared/errors/placeErrors.ts';
import { calling, identity, identityResult } from '../../support/command.ts';
import { emptyExport, startFakeInstance } from '../../support/places/fakeInstance.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { tokenFileWith } from '../../support/zitadel/placeOfZitadel.ts';

const TOKEN = 'some-token';

function sizeOf(content: string) {
  const crc32c = new CRC32C();
  crc32c.update(Buffer.from(content));
  return { size: Buffer.byteLength(content), crc32c: crc32c.toString() };
}

const object = { bucket: 'transfers', path: 'exports/ID', generation: '1', ...sizeOf(emptyExport) };

interface Behaviour {
  /** The content of the object. */
  readonly file?: string;
  /** The status of the object's download. */
  readonly download?: number;
  /** The status of the object's deletion. */
  readonly deletion?: number;
  /** The body that describes the object. */
  readonly description?: object;
}

const ignore = () => undefined;
const silent: ProgressOutput = {
  intervalMs: 1_000,
  show: ignore,
  finish: ignore,
  retry: ignore,
  wait: ignore,
  warn: ignore,
};

/** Starts an instance that writes exports into its bucket, except those of a trial. */
async function startInstance({
  file = emptyExport,
  download = 200,
  deletion = 200,
  description = { object },
}: Behaviour = {}) {
  const requests: string[] = [];
  const instance = await startFakeInstance(async (response) => {
    const { method, url, headers } = response.req;
    const body = await text(response.req);
    if (body.includes(JSON.stringify(NO_ORGANISATION))) return response.end(emptyExport);
    requests.push(`${method} ${url}, ${headers.authorization ?? 'no token'}`);
    if (method === 'DELETE') return response.writeHead(deletion).end('{"message":"not now"}');
    if (method === 'GET') return response.writeHead(download).end(file);
    const location = `${instance.url}/object?signature=secret`;
    return response.writeHead(303, { location }).end(JSON.stringify(description));
  });
  const to = join(await testDirectory(), 'export.json');
  const call = ['export', instance.url, '--to', to, '--token-file', await tokenFileWith(TOKEN)];
  return { url: instance.url, to, requests, call };
}

describe('an export that an instance has written into its bucket', () => {
  it('is downloaded without the token, and deleted', async () => {
    const { to, requests, call } = await startInstance();
    expect(await identityResult(call)).toMatchObject({ code: 0, bytes: emptyExport.length });
    expect(await readFile(to, 'utf8')).toBe(emptyExport);
    expect(requests).toEqual([
      `POST /admin/v1/export, Bearer ${TOKEN}`,
      'GET /object?signature=secret, no token',
      `DELETE /admin/v1/export?object=ID, Bearer ${TOKEN}`,
    ]);
  });

  it('is complete if its object cannot be deleted, and causes a notice', async () => {
    const { url, call } = await startInstance({ deletion: 503 });
    const problem = `${url} failed: status 503: not now`;
    const message = `the file of the export remains in the bucket of ${url} for up to two days: it could not be deleted (${problem})`;
    const notice = { reason: 'file_kept', message, params: { operation: 'export', instance: url, problem } };
    expect(await identityResult(call)).toMatchObject({ code: 0, notices: [notice] });
    const gone = await startInstance({ deletion: 404 });
    expect(await identityResult(gone.call)).not.toHaveProperty('notices');
  });

  const damage = emptyExport.replace('Fake', 'Take');
  const cut = emptyExport.slice(0, -2);
  const unlike = 'returned a file that differs from the file that the instance has written';
  const damagedManifest = emptyExport.replace('"counts":{}', '"counts":{"orgs":1}');
  it.each([
    ['has other content than the instance states', { file: damage }, unlike],
    ['has a part of the file', { file: cut, description: { object: { ...object, size: cut.length } } }, unlike],
    [
      'does not match its manifest',
      { file: damagedManifest, description: { object: { ...object, ...sizeOf(damagedManifest) } } },
      'returned a damaged export (manifest.counts.orgs: count mismatch',
    ],
  ])('is neither stored nor kept if it %s', async (_what, behaviour, problem) => {
    const { to, requests, call } = await startInstance(behaviour);
    const { stderr } = await calling()(call, 1, problem);
    expect(stderr).not.toContain('secret');
    expect(existsSync(to)).toBe(false);
    expect(requests.at(-1)).toContain('DELETE /admin/v1/export?object=ID');
  });

  it('is not stored if it is not described', async () => {
    const { to, call } = await startInstance({ description: {} });
    const problem = 'returned a damaged export (the response does not describe the object that contains the export';
    await calling()(call, 1, problem);
    expect(existsSync(to)).toBe(false);
  });

  it('is deleted if the bucket refuses its download, and named if it cannot be deleted', async () => {
    const refused = await startInstance({ download: 403 });
    const first = await identity(refused.call);
    expect(first.stderr).toContain('the bucket does not permit the download (status 403): repeat the command');
    expect(refused.requests.filter((request) => request.startsWith('DELETE'))).toHaveLength(1);
    const kept = await startInstance({ download: 403, deletion: 503 });
    const second = await identity(kept.call);
    const note = `repeat the command; the file of the export remains in the bucket of ${kept.url} for up to two days: it could not be deleted (${kept.url} failed: status 503: not now)`;
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(note) });
    expect(kept.requests.filter((request) => request.startsWith('DELETE'))).toHaveLength(1);
  });

  it('is deleted if the target cannot be written, and named if it cannot be deleted', async () => {
    const { signal } = new AbortController();
    /** Stores the export of an instance in a place that fails after the first bytes. */
    const store = async (url: string) => {
      const settings = { origin: url, token: TOKEN, tokenOption: '--token-file' };
      await using content = await openRemote(settings).readExport(defaultExportOptions, signal);
      const target: FilePlace = {
        takes: 'files',
        name: 'full',
        readExport: () => Promise.reject(new Error('unused')),
        async store(bytes) {
          for await (const _ of bytes) break;
          throw storageFull({ directory: '.', bytes: '0 bytes', place: 'full' });
        },
      };
      await trackStore(target, { name: url, content }, 'exporting', { output: silent, signal });
    };
    const deleted = await startInstance();
    await expect(store(deleted.url)).rejects.toThrow(/the command has removed the incomplete file$/);
    expect(deleted.requests.filter((request) => request.startsWith('DELETE'))).toHaveLength(1);
    const kept = await startInstance({ deletion: 503 });
    await expect(store(kept.url)).rejects.toThrow(
      /the command has removed the incomplete file; the file of the export remains/,
    );
  });

  it('is an error that names the limit if the instance has no bucket', async () => {
    const error = responseTooLarge({ limit: 1_000 }).toJson();
    const instance = await startFakeInstance((response) => response.writeHead(400).end(JSON.stringify(error)), {
      responseBytes: 1_000,
    });
    const to = join(await testDirectory(), 'export.json');
    const call = ['export', instance.url, '--to', to, '--org', 'A', '--token-file', await tokenFileWith(TOKEN)];
    const problem = `the export exceeds the limit of ${instance.url}, 1,000 bytes in a response: raise MAX_RESPONSE_BYTES of a self-hosted instance, export fewer organisations with --org, export its database (firestore:PROJECT/DATABASE or sqlite:DIR), or request the export with gcs_output`;
    await calling()(call, 1, problem);
  });
});
