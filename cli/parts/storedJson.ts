import { IdentityError } from '../../shared/errors/identityError.ts';
import type { ObjectLocation, ObjectStorage, PinnedObject } from '../../shared/objectStorage/objectStorage.ts';

/** An object's place beside the target of an export in parts. */
export function beside(target: ObjectLocation, suffix: string): ObjectLocation {
  return { ...target, path: `${target.path}.${suffix}` };
}

/** Returns the name of an object in messages. */
export function objectUri({ bucket, path }: Pick<ObjectLocation, 'bucket' | 'path'>): string {
  return `gs://${bucket}/${path}`;
}

/** Pins an object; undefined if there is none. */
export async function pinIfPresent(
  storage: ObjectStorage,
  location: ObjectLocation,
  signal: AbortSignal,
): Promise<PinnedObject | undefined> {
  try {
    return await storage.pin(location, signal);
  } catch (error) {
    if (error instanceof IdentityError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

/** Reads an object's bytes from `start` on. */
export async function readBytes(object: PinnedObject, signal: AbortSignal, start = 0): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of object.read(signal, start)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * Writes a new object with a small document.
 * @returns whether this call created it: another one may have been faster
 */
export async function createJson(
  storage: ObjectStorage,
  location: ObjectLocation,
  document: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  async function* content(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${JSON.stringify(document)}\n`);
  }
  try {
    await storage.write(location, content(), signal);
    return true;
  } catch (error) {
    if (error instanceof IdentityError && error.code === 'ALREADY_EXISTS') return false;
    throw error;
  }
}
