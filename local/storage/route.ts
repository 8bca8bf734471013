import { invalid, notImplemented } from './googleError.ts';

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
