import { partsFinished } from '../../shared/errors/placeErrors.ts';
import { objectExists } from '../../shared/errors/storageErrors.ts';
import { parseIfJson } from '../../shared/json/parseIfJson.ts';
import type { ObjectLocation, ObjectStorage } from '../../shared/objectStorage/objectStorage.ts';
import { manifestSchema } from '../../shared/organisation/exportFile.ts';
import { combineManifests, type PartsDocument, partsDocument } from '../../shared/organisation/partsDocument.ts';
import { findPlan, type PartsRequest } from './plan.ts';
import { objectUri, pinIfPresent, readBytes } from './storedJson.ts';
import type { WrittenPart } from './writtenPart.ts';

/**
 * Finds the document of an export that the request's execution has begun or finished: a task of it that starts late, or
 * is retried, has nothing left to do.
 * @returns undefined if the export is not finished
 * @throws IdentityError when the target is something else, or the export of another run: objects are never overwritten
 */
export async function findFinished(
  storage: ObjectStorage,
  target: ObjectLocation,
  request: PartsRequest,
  signal: AbortSignal,
): Promise<PartsDocument | undefined> {
  const document = await readFinished(storage, target, signal);
  if (document === undefined) return undefined;
  const { readTime } = document.manifest;
  const plan = await findPlan(storage, target, request, readTime, signal);
  const isOwn = plan !== undefined && [plan.execution, document.execution].includes(request.execution);
  // By hand, each call is a run of its own.
  if (request.execution === '' || !isOwn) throw partsFinished(objectUri(target), readTime);
  return document;
}

/**
 * Reads the document of an export that is complete.
 * @throws IdentityError when the target is something else
 */
export async function readFinished(
  storage: ObjectStorage,
  target: ObjectLocation,
  signal: AbortSignal,
): Promise<PartsDocument | undefined> {
  const object = await pinIfPresent(storage, target, signal);
  if (object === undefined) return undefined;
  const { data } = partsDocument.safeParse(parseIfJson((await readBytes(object, signal)).toString()));
  if (data === undefined) throw objectExists(target);
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
