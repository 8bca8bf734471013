// Which export an import has read into an organisation last: a mirroring import must not undo later changes.

import { z } from 'zod';
import { UNKNOWN_IMPORT } from '../../../shared/accounts/userAccounts.ts';
import { organisationKey } from '../../../shared/auth/authorise.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import type { Manifest } from '../../../shared/exportFile/manifest.ts';
import type { StoredDocument, Write } from '../../../shared/store/store.ts';
import { inTurns } from '../../../shared/turns.ts';
import type { ImportContext } from '../context.ts';

/** An export: the instance that made it, and when it was read there. */
interface FileOrigin {
  readonly instance: string;
  readonly readTime: string;
}

const storedOrigin = z.object({ instance: z.string(), readTime: z.string() });

/** The difference of two clocks that counts as none. */
const CLOCK_SKEW_MS = 300 * SECOND_MS;

/** Whether a file was read in the future, by a clock that is wrong: no later file would be newer. */
export function isOfTheFuture({ readTime }: Pick<Manifest, 'readTime'>): boolean {
  return Date.parse(readTime) > Date.now() + CLOCK_SKEW_MS;
}

/** Returns the stored form of a file's origin, which is unknown without a manifest, and by a wrong clock. */
export function originText(manifest: OriginManifest | undefined): string {
  if (manifest === undefined || isOfTheFuture(manifest)) return UNKNOWN_IMPORT;
  const { instance, readTime } = originOf(manifest);
  return JSON.stringify({ instance, readTime });
}

type OriginManifest = Pick<Manifest, 'instance' | 'instanceId' | 'readTime'>;

/** Returns the origin of a file with a manifest. */
export function originOf({ instance, instanceId, readTime }: OriginManifest): FileOrigin {
  return { instance: instanceId ?? instance, readTime };
}

/** Reads the origin of the last import into an organisation; undefined without an import, and if it is unknown. */
export function lastImportOf({ lastImport }: StoredDocument): FileOrigin | undefined {
  return lastImport === undefined || lastImport === UNKNOWN_IMPORT
    ? undefined
    : storedOrigin.parse(JSON.parse(lastImport));
}

/** Whether a file is of the same instance as another one, and not older. */
export function isSameOrNewer(file: FileOrigin, other: FileOrigin): boolean {
  return file.instance === other.instance && Date.parse(file.readTime) >= Date.parse(other.readTime);
}

const ORGANISATIONS_PER_COMMIT = 250;

/**
 * Stores the origin of the file in organisations that existed before, ahead of the first of their records. Of two files of
 * one instance, the newer one counts; an unknown origin, and those of two instances, stay unknown until a mirroring import
 * names the organisation. New organisations have the origin from their creation on.
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

/** Returns the origin of an organisation's records after an import that leaves other records. */
function laterOrigin(stored: StoredDocument, manifest: OriginManifest | undefined): string {
  const { lastImport } = stored;
  if (lastImport === undefined) return originText(manifest);
  const last = lastImportOf(stored);
  if (last === undefined || manifest === undefined || isOfTheFuture(manifest)) return UNKNOWN_IMPORT;
  const origin = originOf(manifest);
  if (last.instance !== origin.instance) return UNKNOWN_IMPORT;
  return isSameOrNewer(last, origin) ? lastImport : originText(manifest);
}
