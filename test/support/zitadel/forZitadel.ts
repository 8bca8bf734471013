import { undisposed } from '../../../cli/exports/fileContent.ts';
import type { FilePlace } from '../../../cli/exports/placeInterfaces.ts';
import { RecordCounter } from '../../../cli/exports/recordCounter.ts';
import { storeForZitadel } from '../../../cli/exports/zitadelFile.ts';
import { collect, inPieces } from '../fixtures/bytes.ts';
import { type Exported, exportedFile, type TestInstance } from '../instances/testInstance.ts';

const output = { intervalMs: 1_000, show: () => {}, finish: () => {}, retry: () => {}, wait: () => {}, warn: () => {} };

/** Returns the file that `identity export --for-zitadel` writes of an export with all secrets. */
export async function exportForZitadel(instance: TestInstance, request: object = {}): Promise<Exported> {
  const plain = await instance.export(request);
  const content = { isRepeatable: true, open: () => inPieces(Buffer.from(plain.bytes)), ...undisposed };
  let bytes = '';
  const target: FilePlace = {
    takes: 'files',
    name: 'a file',
    store: async (file) => {
      bytes = (await collect(file)).toString();
      return { place: 'a file', bytes: bytes.length };
    },
    readExport: () => Promise.reject(new Error('this file is only written')),
  };
  const read = { name: 'an instance', content, counter: new RecordCounter('an instance') };
  const secrets = { withPasswords: true, withOtp: true, withKeys: true };
  await storeForZitadel(target, read, secrets, { output, signal: new AbortController().signal });
  return { ...exportedFile.parse(JSON.parse(bytes)), bytes };
}
