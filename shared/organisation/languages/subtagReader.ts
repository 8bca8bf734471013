/** A reader of a language tag's subtags, in lower case. Subtags that no tag can have are skipped. */
export class SubtagReader {
  private readonly tokens: readonly string[];
  private position = 0;
  /** Whether the tag has a malformed or unknown subtag. */
  failed = false;

  constructor(text: string) {
    const tokens = text.replaceAll('_', '-').split('-');
    const wellFormed = tokens.filter((token) => /^[a-z\d]{1,8}$/i.test(token));
    this.failed = wellFormed.length < tokens.length;
    this.tokens = wellFormed.map((token) => token.toLowerCase());
  }

  /** The current subtag; empty at the end. */
  get token(): string {
    return this.tokens[this.position] ?? '';
  }

  /** Returns the current subtag, and moves to the next one. */
  next(): string {
    const { token } = this;
    this.position++;
    return token;
  }

  /** Returns what `find` makes of the current subtag, and moves to the next one; an unknown subtag is a failure. */
  take(find: (token: string) => string | undefined): string | undefined {
    const found = find(this.next());
    if (found === undefined) this.fail();
    return found;
  }

  /** Returns the subtags of at least `length` characters from here on. */
  takeLong(length: number): string[] {
    const taken: string[] = [];
    while (this.token.length >= length) taken.push(this.next());
    return taken;
  }

  fail(): void {
    this.failed = true;
  }
}

/**
 * Reads a tag's extensions and its part for private use, in canonical order.
 * @param readTransformed reads the tag in an extension `t`
 */
export function readExtensions(reader: SubtagReader, readTransformed: (reader: SubtagReader) => string): string[] {
  const extensions: string[] = [];
  while (reader.token.length === 1) {
    const kind = reader.next();
    const parts = readExtension(kind, reader, readTransformed);
    const extension = [kind, ...parts].join('-');
    if (extension.length < (kind === 'x' ? 3 : 4)) reader.fail();
    else if (kind === 'x') return [...sorted(extensions, 1), extension];
    else extensions.push(extension);
  }
  return sorted(extensions, 1);
}

function readExtension(
  kind: string,
  reader: SubtagReader,
  readTransformed: (reader: SubtagReader) => string,
): string[] {
  if (kind === 'x') return reader.takeLong(1);
  if (kind === 'u') return [...sorted(reader.takeLong(3), 3), ...readKeywords(reader)];
  if (kind !== 't') return reader.takeLong(2);
  const parts = /^.[a-z].?$/.test(reader.token) ? [readTransformed(reader)] : [];
  while (/^.[^a-z]$/.test(reader.token)) parts.push(reader.next(), ...reader.takeLong(3));
  return parts;
}

/** Reads the keywords of an extension `u`: keys of two characters with their values. The first of equal keys stays. */
function readKeywords(reader: SubtagReader): string[] {
  const keywords = new Map<string, string>();
  while (reader.token.length === 2) {
    const key = reader.next();
    const keyword = [key, ...reader.takeLong(3)].join('-');
    const known = keywords.get(key);
    if (known === undefined) keywords.set(key, keyword);
    else if (known !== keyword) reader.fail();
  }
  return sorted([...keywords.values()], 2);
}

/** Sorts texts by their first characters. */
function sorted(texts: readonly string[], characters: number): string[] {
  const start = (text: string) => text.slice(0, characters);
  return [...texts].sort((a, b) => Number(start(a) > start(b)) - Number(start(a) < start(b)));
}
