import { conditionNotMet, noSuchObject } from './googleError.ts';
import type { Guard, StoredObject } from './objectFiles.ts';

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
