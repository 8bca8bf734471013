export type JsonObject = { [name: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isEmpty(json: JsonObject): boolean {
  for (const _name in json) return false;
  return true;
}

export function parseObject(text = '{}'): JsonObject {
  const json: unknown = JSON.parse(text);
  return isJsonObject(json) ? json : {};
}

/**
 * Parses a JSON text. Returns undefined if the text is not JSON: no schema accepts undefined, so the caller's
 * validation then fails.
 */
export function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the value at a path, such as `project.name`; undefined if the path does not exist. */
export function valueAt(record: JsonObject, path: string): unknown {
  if (!path.includes('.')) return record[path];
  let value: unknown = record;
  for (const name of path.split('.')) {
    if (!isJsonObject(value)) return undefined;
    value = value[name];
  }
  return value;
}

/**
 * Returns the text at a path; an empty text if the value is not a text. For the path `$orgId`, returns `orgId`. For a
 * path that starts with `=`, returns the text after `=` (see `FieldPath`).
 */
export function textAt(record: JsonObject, path: string, orgId: string): string {
  if (path === '$orgId') return orgId;
  if (path.startsWith('=')) return path.slice(1);
  const value = valueAt(record, path);
  return typeof value === 'string' ? value : '';
}

/** Returns all texts at a path, which may lead through a list, such as `roleKeys[]` (see `ListPath`). */
export function textsAt(record: JsonObject, path: string, orgId: string): string[] {
  if (!path.includes('[')) return [textAt(record, path, orgId)];
  let values: unknown[] = [record];
  for (const step of path.split('.'))
    values = values.flatMap((value) => (isJsonObject(value) ? stepInto(value, step) : []));
  return values.filter((value) => typeof value === 'string');
}

function stepInto(record: JsonObject, step: string): unknown[] {
  const bracket = step.indexOf('[');
  if (bracket < 0) return [record[step]];
  const elements = record[step.slice(0, bracket)];
  if (!Array.isArray(elements)) return [];
  if (step.endsWith('[]')) return elements;
  const [field = '', expected] = step.slice(bracket + 1, -1).split('=');
  return elements.filter((element) => isJsonObject(element) && element[field] === expected);
}

/** Sets the value at a path, and creates missing objects on the path. */
export function putAt(record: JsonObject, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() ?? path;
  let target = record;
  for (const name of names) {
    const next = target[name];
    const inner = isJsonObject(next) ? next : {};
    target[name] = inner;
    target = inner;
  }
  target[last] = value;
}

/**
 * Unsets the text at a path in `record`, and returns the text. For a path such as `user.hashedPassword.value`, also
 * unsets `user.hashedPassword` if this object is empty afterwards.
 */
export function takeAt(record: JsonObject, path: string): string | undefined {
  const names = path.split('.');
  const last = names.length - 1;
  let direct = record;
  let inner: JsonObject | undefined;
  let holder: JsonObject | undefined;
  for (let at = 0; at < last; at++) {
    const next = direct[names[at] ?? path];
    if (!isJsonObject(next)) return undefined;
    if (at === 0) inner = next;
    else if (at === 1) holder = next;
    direct = next;
  }
  const name = names[last] ?? path;
  const taken = direct[name];
  // Set the field to undefined instead of deleting it, because V8 accesses objects with deleted fields slowly.
  if (taken !== undefined) direct[name] = undefined;
  if (inner !== undefined && holder !== undefined && hasNoValues(holder)) inner[names[1] ?? path] = undefined;
  return typeof taken === 'string' && taken !== '' ? taken : undefined;
}

function hasNoValues(record: JsonObject): boolean {
  for (const name in record) if (record[name] !== undefined) return false;
  return true;
}
