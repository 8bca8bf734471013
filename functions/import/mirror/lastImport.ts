// Which export an import has read into an organisation last: a mirroring import must not undo later changes.

import { z } from 'zod';
import { organisationKey } from '../../../shared/auth/authorise.ts';
import type { Manifest } from '../../../shared/exportFile/manifest.ts';
import type { StoredDocument } from '../../../shared/store/store.ts';
import { inTurns } from '../../../shared/turns.ts';
import type { ImportContext } from '../context.ts';

/** An export: the instance that made it, and when it was read there. */
interface FileOrigin {
  readonly instance: string;
  readonly readTime: string;
}

const storedOrigin = z.object({ instance: z.string(), readTime: z.string() });

/** Returns the stored form of a file's origin. */
export function originText(manifest: OriginManifest): string {
  const { instance, readTime } = originOf(manifest);
  return JSON.stringify({ instance, readTime });
}

type OriginManifest = Pick<Manifest, 'instance' | 'instanceId' | 'readTime'>;

/** Returns the origin of a file with a manifest. */
export function originOf({ instance, instanceId, readTime }: OriginManifest): FileOrigin {
  return { instance: instanceId ?? instance, readTime };
}

/** Reads the origin of the last import into an organisation; undefined if it is unknown, or if records were removed since. */
export function lastImportOf({ lastImport }: StoredDocument): FileOrigin | undefined {
  return lastImport === undefined ? undefined : storedOrigin.parse(JSON.parse(lastImport));
}

/** Whether a file is of the same instance as another one, and not older. */
export function isSameOrNewer(file: FileOrigin, other: FileOrigin): boolean {
  return file.instance === other.instance && Date.parse(file.readTime) >= Date.parse(other.readTime);
}

const ORGANISATIONS_PER_COMMIT = 250;

/**
 * Stores the origin of the file in organisations that existed before, ahead of the first of their records. Of two files of
 * one instance, the newer one counts. New organisations have it from their creation on.
 */
export async function rememberImport(
  { store, signal, inspection: { manifest }, settings }: ImportContext,
  orgIds: readonly string[],
): Promise<void> {
  if (settings.dryRun === true) return;
  const text = manifest && originText(manifest);
  for await (const batch of inTurns(orgIds, ORGANISATIONS_PER_COMMIT, signal)) {
    const keys = batch.map(organisationKey);
    await store.transaction(async (transaction) => {
      const stored = await transaction.getMany(keys, ['lastImport']);
      const isOutdated = (document: StoredDocument | undefined) => {
        if (document === undefined || document.lastImport === text) return false;
        const last = lastImportOf(document);
        return last === undefined || manifest === undefined || !isSameOrNewer(last, originOf(manifest));
      };
      const outdated = keys.filter((_, index) => isOutdated(stored[index]));
      transaction.write(outdated.map((key) => ({ type: 'update', key, fields: { lastImport: text ?? null } })));
    }, signal);
  }
}
