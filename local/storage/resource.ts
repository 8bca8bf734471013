import { conditionNotMet, invalid, noSuchObject, notImplemented } from './googleError.ts';
import type { Guard, StoredObject } from './objectFiles.ts';

/** Renders an object's metadata as in the JSON API, where numbers are strings. */
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

/** Returns an entity tag that changes with every generation. */
export const etag = ({ generation }: StoredObject) => Buffer.from(generation).toString('base64');

/** The only version of an object's metadata: no operation changes it. */
export const metageneration = '1';

/** Creates a guard that checks the preconditions in a request's query; generation 0 stands for no object. */
export function preconditions(query: URLSearchParams): Guard {
  return (present) => {
    const generation = present?.generation ?? '0';
    const [match, notMatch] = [query.get('ifGenerationMatch'), query.get('ifGenerationNotMatch')];
    const version = query.get('ifMetagenerationMatch');
    const unmet =
      (match !== null && match !== generation) ||
      (notMatch !== null && notMatch === generation) ||
      (version !== null && (present === undefined || version !== metageneration));
    if (unmet) throw conditionNotMet();
  };
}

/**
 * Returns the object if it exists, in the query's generation if that names one.
 * @throws GoogleError 404
 */
export function requireObject(
  object: StoredObject | undefined,
  name: { readonly bucket: string; readonly object: string },
  query: URLSearchParams,
): StoredObject {
  const generation = query.get('generation');
  const isMissing = object === undefined || (generation !== null && generation !== object.generation);
  if (isMissing) throw noSuchObject(name.bucket, name.object);
  return object;
}

/** The parsed path and query of a request. */
export interface Route {
  readonly kind: 'object' | 'bucket' | 'upload';
  readonly bucket: string;
  /** Empty if the path names no object. */
  readonly object: string;
  readonly query: URLSearchParams;
}

const prefixes =
  /^\/(?:(storage\/v1|download\/storage\/v1|(?:resumable\/)?upload\/storage\/v1)\/)?b\/([^/]+)\/o(?:\/(.*))?$/;

/**
 * Parses a path of the JSON API. The official client omits `/storage/v1` if STORAGE_EMULATOR_HOST is set.
 * @throws GoogleError 404 for any other path
 */
export function parseRoute(url: string): Route {
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  const [, prefix = '', bucket, object = ''] = prefixes.exec(path) ?? [];
  if (bucket === undefined) throw notImplemented();
  const kind = prefix.includes('upload') ? 'upload' : object === '' ? 'bucket' : 'object';
  return { kind, bucket: decode(bucket), object: decode(object), query: new URLSearchParams(query) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid('Malformed path.');
  }
}
