import { conditionNotMet, invalid, noSuchObject, notImplemented } from './googleError.ts';
import type { Guard, StoredObject } from './objectFiles.ts';

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

/** Nothing here changes an object's metadata, so it stays at its first version. */
export const metageneration = '1';

/** A guard that checks the preconditions in a request's query; generation 0 stands for no object. */
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
 * The object, if it is there in the generation that the query names, if any.
 * @throws GoogleError 404
 */
export function existing(
  object: StoredObject | undefined,
  name: { readonly bucket: string; readonly object: string },
  query: URLSearchParams,
): StoredObject {
  const generation = query.get('generation');
  const gone = object === undefined || (generation !== null && generation !== object.generation);
  if (gone) throw noSuchObject(name.bucket, name.object);
  return object;
}

/** What a request's path and query are about. */
export interface Route {
  readonly kind: 'object' | 'bucket' | 'upload';
  readonly bucket: string;
  /** '' where the path names none. */
  readonly object: string;
  readonly query: URLSearchParams;
}

const prefixes =
  /^\/(?:(storage\/v1|download\/storage\/v1|(?:resumable\/)?upload\/storage\/v1)\/)?b\/([^/]+)\/o(?:\/(.*))?$/;

/**
 * Reads a path of the JSON API. The official client leaves `/storage/v1` out where STORAGE_EMULATOR_HOST is set.
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
