/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a value if it is an object, otherwise an empty object. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** Returns a value as a list; one of another type as an empty list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a value as text; one of another type as an empty text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the texts of a list. */
export function textsOf(value: unknown): readonly string[] {
  return listOf(value).map(textOf);
}

/** Leaves out what JSON of protocol buffers leaves out: zeros, empty texts and empty lists, but not empty messages. */
export function withoutZeros(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutZeros);
  if (!isFields(value)) return value;
  const kept = Object.entries(value).filter(([, part]) => !isZero(part));
  return Object.fromEntries(kept.map(([name, part]) => [name, withoutZeros(part)]));
}

function isZero(value: unknown): boolean {
  return value === undefined || value === null || value === false || value === 0 || value === '' || isEmptyList(value);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Leaves out what JSON of the Compute API leaves out: nulls, empty texts and empty lists. */
export function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isFields(value)) return value;
  const kept = Object.entries(value).filter(([, part]) => part !== null && part !== '' && !isEmptyList(part));
  return Object.fromEntries(kept.map(([name, part]) => [name, withoutEmpty(part)]));
}

/** Applies a change under an update mask, whose paths may be in snake case; without one, replaces the fields given. */
export function updated(held: Fields, given: Fields, mask: string | undefined): Fields {
  if (mask === undefined || mask === '') return { ...held, ...given };
  const paths = mask.split(',').map((path) => path.split('.').map(camelCase));
  return paths.reduce((result, path) => withPath(result, given, path), held);
}

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function withPath(held: Fields, given: Fields, [name = '', ...rest]: readonly string[]): Fields {
  const { [name]: old, ...others } = held;
  const value = rest.length === 0 ? given[name] : withPath(fieldsOf(old), fieldsOf(given[name]), rest);
  return value === undefined ? others : { ...others, [name]: value };
}
