/**
 * Puts a text at `path` (`user.otpCode`) into the JSON of a record that has an object under the first name and nothing at
 * the path itself. The record is not parsed, which would take longer than reading it from the database.
 * @param json as JSON.stringify writes it: there `"user":{` is nowhere but where the object begins, since quotes inside
 * a string are escaped
 * @throws Error when there is no such object
 */
export function insertText(json: string, path: string, text: string): string {
  const [outer = path, ...inner] = path.split('.');
  const opening = `"${outer}":{`;
  const at = json.indexOf(opening) + opening.length;
  if (at < opening.length) throw new Error(`the record has no object ${outer}`);
  const value = inner.reduceRight((nested, name) => `{"${name}":${nested}}`, JSON.stringify(text));
  const separator = json[at] === '}' ? '' : ',';
  return `${json.slice(0, at)}${value.slice(1, -1)}${separator}${json.slice(at)}`;
}
