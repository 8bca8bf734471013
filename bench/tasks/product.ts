import { open } from 'node:fs/promises';
import { z } from 'zod';
import { countedStore } from '../../cli/metrics.ts';
import { exportOrganisations } from '../../functions/export/operation.ts';
import { inspect } from '../../functions/import/inspect/inspection.ts';
import { importOrganisations } from '../../functions/import/operation.ts';
import { ExportFileReader, type ExportFileSource } from '../../functions/import/source/exportFileReader.ts';
import { readFileRange } from '../../shared/http/bodyStorage.ts';
import { parseJson } from '../../shared/json/jsonScanner.ts';
import { openStore, type StoreLocation } from '../../shared/store/openStore.ts';
import type { Store } from '../../shared/store/store.ts';
import { type Measured, measure } from './task.ts';

const CHUNK_BYTES = 64 * 1024;
const never = new AbortController().signal;
const counts = z.record(z.string(), z.number());
const importResponse = z.object({
  errors: z.undefined().optional(),
  summary: z.object({ created: counts, unchanged: counts }),
});

/** Reads the export file, and parses its records without using them. */
export async function readExportFile(file: string): Promise<Measured> {
  return await withSource(file, (source) =>
    measure(async () => {
      const reader = new ExportFileReader(() => true);
      let users = 0;
      for await (const chunk of source.open(never)) {
        for (const { name, text, path } of reader.push(chunk)) {
          parseJson(text, path);
          if (name === 'humanUsers') users++;
        }
      }
      reader.end();
      return users;
    }),
  );
}

/** Runs the part of an import before its first write. */
export async function inspectExportFile(file: string): Promise<Measured> {
  return withSource(file, (source) => measure(async () => (await inspect(source, never)).counts.humanUsers ?? 0));
}

/** Imports the export file; `outcome` is the expected outcome for every user. */
export async function importExportFile(
  file: string,
  location: StoreLocation,
  outcome: 'created' | 'unchanged',
): Promise<Measured> {
  return await withStore(location, (store) =>
    withSource(file, (source) =>
      measure(async () => {
        const response = await importOrganisations(store, source, { withKeys: false }, new Date().toISOString(), never);
        return importResponse.parse(response).summary[outcome].humanUsers ?? 0;
      }),
    ),
  );
}

/** Exports everything, with all credentials as a migration does, or with none. */
export async function exportAll(location: StoreLocation, withSecrets: boolean): Promise<Measured> {
  return await withStore(location, (store) =>
    measure(async () => {
      await using snapshots = new AsyncDisposableStack();
      const snapshot = snapshots.use(await store.snapshot());
      const content = { withPasswords: withSecrets, withOtp: withSecrets, withKeys: false, forZitadel: false };
      const origin = { instance: 'bench', defaultOrgId: undefined };
      const written = exportOrganisations(snapshot, { ...content, orgIds: [], excludedOrgIds: [] }, origin, never);
      let bytes = 0;
      for await (const chunk of written.bytes) bytes += chunk.length;
      if (bytes === 0) throw new Error('the export is empty');
      return written.manifest.counts.humanUsers ?? 0;
    }),
  );
}

/** Runs work on an open store, and counts the documents that it reads and writes. */
async function withStore(location: StoreLocation, work: (store: Store) => Promise<Measured>): Promise<Measured> {
  await using resources = new AsyncDisposableStack();
  const store = resources.adopt(await openStore(location), (opened) => opened.close());
  const documents = { read: 0, written: 0 };
  const counted = countedStore(store, {
    read: (count) => {
      documents.read += count;
    },
    written: (count) => {
      documents.written += count;
    },
  });
  return { ...(await work(counted)), documents };
}

async function withSource(file: string, work: (source: ExportFileSource) => Promise<Measured>): Promise<Measured> {
  await using handle = await open(file);
  const { size } = await handle.stat();
  return await work({ open: () => readFileRange(handle, 0, size, CHUNK_BYTES) });
}
