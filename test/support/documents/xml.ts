/** An element of an XML document. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

const TOKEN = /<\?xml [^>]*\?>|<(\/?)([\w-]+)((?:\s+[\w-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;
const NOT_IN_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

/**
 * Reads an XML document of elements, attributes and texts, as strictly as the standard.
 * @throws Error when it is not well-formed
 */
export function parseXml(document: string): Element {
  if (NOT_IN_XML.test(document)) throw new Error('the document holds a character that XML does not have');
  const top: Element = { name: '', attributes: {}, children: [], text: '' };
  const open = [top];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < document.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(document);
    if (match === null) throw new Error(`not well-formed: ${document.slice(at, at + 80)}`);
    take(match, open);
  }
  const [root] = top.children;
  if (open.length !== 1 || root === undefined || top.children.length !== 1) throw new Error('there is not one element');
  return root;
}

function take([, slash, name, written = '', selfClosing, text]: RegExpExecArray, open: Element[]): void {
  const parent = open.at(-1);
  if (parent === undefined) throw new Error('an element is closed that was not opened');
  if (text !== undefined) parent.text += decoded(text);
  if (name === undefined) return;
  if (slash === '/') {
    if (open.pop()?.name !== name) throw new Error(`${name} is closed where another element is open`);
    return;
  }
  const attributes = [...written.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key, value = '']) => [key, decoded(value)]);
  const element = { name, attributes: Object.fromEntries(attributes), children: [], text: '' };
  parent.children.push(element);
  if (selfClosing !== '/') open.push(element);
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decoded(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|(\w+));|&/g, (reference, code?: string, name?: string) => {
    if (code !== undefined) return String.fromCodePoint(Number(code));
    const character = NAMED[name ?? ''];
    if (character === undefined) throw new Error(`not well-formed: ${reference}`);
    return character;
  });
}
