import { isJsonObject, type JsonObject } from '../json/jsonObject.ts';
import { withoutFilled } from './filledFields.ts';
import type { OwnProviders, Section } from './sections/section.ts';
import { type RecordState, stateFields } from './states.ts';

export interface ComparedContent {
  /** The record's JSON without secrets. If both records have the same object here, the comparison skips the JSON. */
  readonly json: JsonObject;
  /** The credentials or their digests, each under the path of its field. */
  readonly secrets: Readonly<Record<string, string>>;
  /** True if the person has the OTP e-mail factor; undefined if this is unknown. */
  readonly otpEmail?: boolean | undefined;
  /**
   * The paths of the credentials that the source of the record lacks, according to the file that contains the record.
   */
  readonly lacks?: readonly string[] | undefined;
  readonly state?: RecordState | undefined;
}

/**
 * A field in which two records differ. `first` or `second` is undefined if the field has no value in that record. If
 * the field is a secret, the difference does not contain the two values.
 */
export type FieldDifference =
  | { readonly path: string; readonly first?: unknown; readonly second?: unknown }
  | { readonly path: string; readonly secret: 'different' | 'onlyFirst' | 'onlySecond' };

const OTP_EMAIL = 'otpEmail';

/**
 * Lists the fields in which two records of a section differ. Imports, comparisons of two places, and proofs of
 * migrations treat records without differences as equal.
 * @param isOwnProvider returns whether an identity provider belongs to the organisation of one of the records
 * @example
 * fieldDifferences(projects, contentOf({ project: { name: 'Shop' } }), contentOf({ project: { name: 'Store' } }),
 * isOwn);
 * // [{ path: 'project.name', first: 'Shop', second: 'Store' }]
 */
export function fieldDifferences(
  section: Section,
  first: ComparedContent,
  second: ComparedContent,
  isOwnProvider: OwnProviders,
): readonly FieldDifference[] {
  const compared = ({ json }: ComparedContent) => withoutFilled(section, json, isOwnProvider);
  return [
    ...(first.json === second.json ? [] : valueDifferences(compared(first), compared(second), '')),
    ...differingSecrets(first.secrets, second.secrets),
    ...((first.otpEmail ?? false) === (second.otpEmail ?? false)
      ? []
      : [{ path: OTP_EMAIL, first: first.otpEmail, second: second.otpEmail }]),
  ];
}

/**
 * True if a difference exists only because the file of the first record omits a credential, the OTP e-mail factor or a
 * state. An import of the first record then keeps the value of the second record. Returns false if the file shows that
 * the source lacks the value.
 * @param keepsStates true if an import keeps the state of a stored record whose state is not in the file
 */
export function isOmission(difference: FieldDifference, first: ComparedContent, keepsStates: boolean): boolean {
  if ('secret' in difference)
    return difference.secret === 'onlySecond' && first.lacks?.includes(difference.path) !== true;
  if (difference.path === OTP_EMAIL) return first.otpEmail === undefined;
  return keepsStates && first.state?.source === 'unknown' && stateFields.includes(difference.path);
}

function valueDifferences(first: unknown, second: unknown, path: string): FieldDifference[] {
  if (isJsonObject(first) && isJsonObject(second)) {
    const names = new Set([...Object.keys(first), ...Object.keys(second)]);
    return [...names].flatMap((name) =>
      valueDifferences(ownValue(first, name), ownValue(second, name), path === '' ? name : `${path}.${name}`),
    );
  }
  if (Array.isArray(first) && Array.isArray(second) && first.length === second.length)
    return first.flatMap((element, index) => valueDifferences(element, second[index], `${path}[${index}]`));
  return JSON.stringify(first) === JSON.stringify(second) ? [] : [{ path, first, second }];
}

function ownValue(json: JsonObject, name: string): unknown {
  return Object.hasOwn(json, name) ? json[name] : undefined;
}

type Secrets = ComparedContent['secrets'];

function differingSecrets(first: Secrets, second: Secrets): FieldDifference[] {
  const paths = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  return paths.flatMap((path): FieldDifference[] => {
    if (first[path] === second[path]) return [];
    if (second[path] === undefined) return [{ path, secret: 'onlyFirst' }];
    return [{ path, secret: first[path] === undefined ? 'onlySecond' : 'different' }];
  });
}
