import { isJsonObject, parseObject } from '../../shared/json/jsonObject.ts';
import type { RecordContent } from './comparedRecord.ts';

/** A field in which two records differ. Absent values are undefined; those of secrets are never shown. */
export type FieldDifference =
  | { readonly path: string; readonly first?: unknown; readonly second?: unknown }
  | { readonly path: string; readonly secret: 'differs' | 'only in the first' | 'only in the second' };

/** Lists the fields in which two records differ. */
export function fieldDifferences(first: RecordContent, second: RecordContent): readonly FieldDifference[] {
  return [
    ...valueDifferences(parseObject(first.body), parseObject(second.body), ''),
    ...secretDifferences(first.secrets, second.secrets),
    ...valueDifferences(first.otpEmail, second.otpEmail, 'otpEmail'),
  ];
}

function valueDifferences(first: unknown, second: unknown, path: string): FieldDifference[] {
  if (isJsonObject(first) && isJsonObject(second)) {
    const names = new Set([...Object.keys(first), ...Object.keys(second)]);
    return [...names].flatMap((name) =>
      valueDifferences(first[name], second[name], path === '' ? name : `${path}.${name}`),
    );
  }
  if (Array.isArray(first) && Array.isArray(second) && first.length === second.length)
    return first.flatMap((element, index) => valueDifferences(element, second[index], `${path}[${index}]`));
  return JSON.stringify(first) === JSON.stringify(second) ? [] : [{ path, first, second }];
}

type Digests = RecordContent['secrets'];

function secretDifferences(first: Digests, second: Digests): FieldDifference[] {
  const paths = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  return paths.flatMap((path): FieldDifference[] => {
    if (first[path] === second[path]) return [];
    if (second[path] === undefined) return [{ path, secret: 'only in the first' }];
    return [{ path, secret: first[path] === undefined ? 'only in the second' : 'differs' }];
  });
}
