import { inspect } from '../../functions/import/inspect/inspection.ts';
import { findManifest } from '../../functions/import/source/exportObject.ts';
import { hasCode } from '../../shared/errors/identityError.ts';
import { partsFinished } from '../../shared/errors/placeErrors.ts';
import { objectExists, partInvalid } from '../../shared/errors/storageErrors.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import { objectUri } from '../../shared/objectStorage/objectName.ts';
import { type ExportedManifest, exportedManifest, manifestSchema } from '../../shared/organisation/exportFile.ts';
import { combineManifests, type PartsDocument, partsDocument } from '../../shared/organisation/partsDocument.ts';
import { MAX_DOCUMENT_BYTES } from '../../shared/store/store.ts';
import { findPlan, type PartsCall, type PlannedPart, pinIfPresent, readBytes } from './plan.ts';

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
  call: PartsCall,
  { location }: PlannedPart,
  readTime: Date,
): Promise<WrittenPart | undefined> {
  const object = await pinIfPresent(call, location);
  if (object === undefined) return undefined;
  const end = await readBytes(object, call.signal, Math.max(0, object.size - MAX_DOCUMENT_BYTES));
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
  { storage, signal }: PartsCall,
  { location }: PlannedPart,
  { generation }: WrittenPart,
): Promise<void> {
  const object = await storage.pin(location, signal);
  if (object.generation !== generation) throw partInvalid(location, 'it was replaced meanwhile');
  try {
    await inspect({ open: (readSignal) => object.read(readSignal) }, signal);
  } catch (error) {
    throw hasCode(error, 'INVALID_ARGUMENT') ? partInvalid(location, error.message) : error;
  }
}

/**
 * Finds the document of an export that the request's execution has begun or finished: a task of it that starts late, or
 * is retried, has nothing left to do.
 * @returns undefined if the export is not finished
 * @throws IdentityError when the target is something else, or the export of another run: objects are never overwritten
 */
export async function findFinished(call: PartsCall): Promise<PartsDocument | undefined> {
  const { target, request } = call;
  const document = await readFinished(call);
  if (document === undefined) return undefined;
  const { readTime } = document.manifest;
  const plan = await findPlan(call, readTime);
  const isOwn = plan !== undefined && [plan.execution, document.execution].includes(request.execution);
  // By hand, each call is a run of its own.
  if (request.execution === '' || !isOwn) throw partsFinished(objectUri(target), readTime);
  return document;
}

/**
 * Reads the document of an export that is complete.
 * @throws IdentityError when the target is something else
 */
export async function readFinished(call: PartsCall): Promise<PartsDocument | undefined> {
  const object = await pinIfPresent(call, call.target);
  if (object === undefined) return undefined;
  const { data } = partsDocument.safeParse(parseIfJson((await readBytes(object, call.signal)).toString()));
  if (data === undefined) throw objectExists(call.target);
  return data;
}

/** Returns the document of complete parts, in their order. */
export function toDocument(parts: readonly [WrittenPart, ...WrittenPart[]], execution: string): PartsDocument {
  const [first, ...others] = parts;
  return {
    parts: parts.map(({ path, generation, manifest }) => ({
      path,
      generation,
      manifest: manifestSchema.parse(manifest),
    })),
    manifest: combineManifests([first.manifest, ...others.map(({ manifest }) => manifest)]),
    execution,
  };
}
