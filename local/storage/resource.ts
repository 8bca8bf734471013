import { metageneration } from './conditions.ts';
import type { StoredObject } from './objectFiles.ts';

/** An object's metadata as the JSON API shows it: numbers are strings. */
export function resource(object: StoredObject, origin: string): Record<string, unknown> {
  const { bucket, name, generation, size, timeCreated, ...rest } = object;
  const path = `b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(name)}`;
  return {
    kind: 'storage#object',
    id: `${bucket}/${name}/${generation}`,
    selfLink: `${origin}/storage/v1/${path}`,
    mediaLink: `${origin}/download/storage/v1/${path}?generation=${generation}&alt=media`,
    bucket,
    name,
    generation,
    metageneration,
    storageClass: 'STANDARD',
    size: String(size),
    etag: etag(object),
    timeCreated,
    updated: timeCreated,
    ...rest,
  };
}

/** Changes with every generation. */
export const etag = ({ generation }: StoredObject) => Buffer.from(generation).toString('base64');
