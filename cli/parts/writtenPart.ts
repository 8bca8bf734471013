import { inspect } from '../../functions/import/inspect/inspection.ts';
import { findManifest } from '../../functions/import/source/joinedParts.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { partInvalid } from '../../shared/errors/storageErrors.ts';
import type { ObjectStorage, PinnedObject } from '../../shared/objectStorage/objectStorage.ts';
import { type ExportedManifest, exportedManifest } from '../../shared/organisation/exportFile.ts';
import { MAX_DOCUMENT_BYTES } from '../../shared/store/store.ts';
import type { PlannedPart } from './plan.ts';
import { pinIfPresent, readBytes } from './storedJson.ts';

/** A complete part of an export. */
export interface WrittenPart {
  readonly path: string;
  readonly generation: string;
  readonly manifest: ExportedManifest;
}

/**
 * Finds a part that an earlier call or another task has written.
 * @param readTime the moment of the export
 * @returns undefined if the part is not complete: it appears only then
 * @throws IdentityError naming an object that is not the part
 */
export async function findPart(
  storage: ObjectStorage,
  { location }: PlannedPart,
  readTime: Date,
  signal: AbortSignal,
): Promise<WrittenPart | undefined> {
  const object = await pinIfPresent(storage, location, signal);
  if (object === undefined) return undefined;
  const end = await readBytes(object, signal, Math.max(0, object.size - MAX_DOCUMENT_BYTES));
  const found = findManifest(end, exportedManifest);
  if (found === undefined) throw partInvalid(location, 'it has no manifest');
  if (found.manifest.readTime !== readTime.toISOString())
    throw partInvalid(location, `it is an export of ${found.manifest.readTime}, not of ${readTime.toISOString()}`);
  return { path: location.path, generation: object.generation, manifest: found.manifest };
}

/**
 * Verifies every record of a part against its manifest.
 * @throws IdentityError naming the part
 */
export async function verifyPart(
  storage: ObjectStorage,
  { location }: PlannedPart,
  { generation }: WrittenPart,
  signal: AbortSignal,
): Promise<void> {
  const object = await storage.pin(location, signal);
  if (object.generation !== generation) throw partInvalid(location, 'it was replaced meanwhile');
  await verifyContent(object, location, signal);
}

async function verifyContent(object: PinnedObject, location: PlannedPart['location'], signal: AbortSignal) {
  try {
    const { repeated } = await inspect({ open: (readSignal) => object.read(readSignal) }, signal);
    repeated[Symbol.dispose]();
  } catch (error) {
    const isInvalid = error instanceof IdentityError && error.code === 'INVALID_ARGUMENT';
    throw isInvalid ? partInvalid(location, error.message) : error;
  }
}
