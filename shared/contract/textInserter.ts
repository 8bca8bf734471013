/** Puts a text into the JSON of a record. */
export type TextInserter = (json: string, text: string) => string;

/**
 * Makes what puts a text at `path` (`user.otpCode`) of a record that has an object under the path's first name, and
 * nothing at the path itself. The record is not parsed, which would take longer than reading it from the database: in
 * what JSON.stringify writes, `"user":{` is nowhere but where that object begins, since quotes inside a string are escaped.
 */
export function textInserter(path: string): TextInserter {
  const [outer, ...inner] = path.split('.');
  const opening = `"${outer}":{`;
  const before = inner.map((name) => `"${name}":`).join('{');
  const after = '}'.repeat(inner.length - 1);
  return (json, text) => {
    const at = json.indexOf(opening) + opening.length;
    if (at < opening.length) throw new Error(`the record has no object ${outer}`);
    const separator = json[at] === '}' ? '' : ',';
    return `${json.slice(0, at)}${before}${JSON.stringify(text)}${after}${separator}${json.slice(at)}`;
  };
}
