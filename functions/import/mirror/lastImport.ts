// Stores which export was last imported into an organisation, so that mirroring an older export does not undo later
// changes.

import { z } from 'zod';
import { UNKNOWN_IMPORT } from '../../../shared/accounts/userAccounts.ts';
import type { Manifest } from '../../../shared/exportFile/manifest.ts';
import { isOfTheFuture } from '../../../shared/exportFile/mirroredContent.ts';
import { organisationKey } from '../../../shared/store/documentKeys.ts';
import type { StoredDocument, Write } from '../../../shared/store/store.ts';
import { inTurns } from '../../../shared/turns.ts';
import type { ImportContext } from '../context.ts';

interface FileOrigin {
  readonly instance: string;
  readonly readTime: string;
}

const storedOrigin = z.object({ instance: z.string(), readTime: z.string() });

/**
 * Returns the text that is stored about a file's origin: its instance and its read time. The origin is unknown if the
 * file has no manifest, or if its read time is in the future because of a wrong clock.
 */
export function originText(manifest: OriginManifest | undefined): string {
  if (manifest === undefined || isOfTheFuture(manifest)) return UNKNOWN_IMPORT;
  const { instance, readTime } = originOf(manifest);
  return JSON.stringify({ instance, readTime });
}

type OriginManifest = Pick<Manifest, 'instance' | 'instanceId' | 'readTime'>;

export function originOf({ instance, instanceId, readTime }: OriginManifest): FileOrigin {
  return { instance: instanceId ?? instance, readTime };
}

/**
 * Returns the origin of the file that was last imported into an organisation. Returns undefined if no file was
 * imported, or if the origin is unknown.
 */
export function lastImportOf({ lastImport }: StoredDocument): FileOrigin | undefined {
  return lastImport === undefined || lastImport === UNKNOWN_IMPORT
    ? undefined
    : storedOrigin.parse(JSON.parse(lastImport));
}

export function isSameOrNewer(file: FileOrigin, other: FileOrigin): boolean {
  return file.instance === other.instance && Date.parse(file.readTime) >= Date.parse(other.readTime);
}

const ORGANISATIONS_PER_COMMIT = 250;

/**
 * Before the first record is written, stores in existing organisations from which instance and read time their records
 * come: the origin. If the last imported file came from the same instance, stores the newer origin. If it came from
 * another instance, or if an origin is unknown, the origin becomes unknown, until a mirroring import lists the
 * organisation in `replace_changed`. For new organisations, the import stores the origin when it creates them.
 */
export async function rememberImport(
  { store, signal, inspection: { manifest }, settings }: ImportContext,
  orgIds: readonly string[],
): Promise<void> {
  if (settings.dryRun === true) return;
  const replaced = new Set(settings.mirror === true ? settings.replaceChanged : []);
  const text = originText(manifest);
  for await (const batch of inTurns(orgIds, ORGANISATIONS_PER_COMMIT, signal)) {
    const keys = batch.map(organisationKey);
    await store.transaction(async (transaction) => {
      const stored = await transaction.getMany(keys, ['lastImport']);
      const writes = keys.flatMap((key, index): Write[] => {
        const document = stored[index];
        if (document === undefined) return [];
        const lastImport = replaced.has(batch[index] ?? '') ? text : laterOrigin(document, manifest);
        return document.lastImport === lastImport ? [] : [{ type: 'update', key, fields: { lastImport } }];
      });
      transaction.write(writes);
    }, signal);
  }
}

/** Returns the origin that an organisation has after an import that keeps some of its earlier records. */
function laterOrigin(stored: StoredDocument, manifest: OriginManifest | undefined): string {
  const { lastImport } = stored;
  if (lastImport === undefined) return originText(manifest);
  const last = lastImportOf(stored);
  if (last === undefined || manifest === undefined || isOfTheFuture(manifest)) return UNKNOWN_IMPORT;
  const origin = originOf(manifest);
  if (last.instance !== origin.instance) return UNKNOWN_IMPORT;
  return isSameOrNewer(last, origin) ? lastImport : originText(manifest);
}
