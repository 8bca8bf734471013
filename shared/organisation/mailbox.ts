/** An error for a text that is no mailbox, in the words of Go's `net/mail` where they are known. */
export class MailboxError extends Error {
  override readonly name = 'MailboxError';
}

const CONTROLS = '\\u0000-\\u001f\\u007f';
const ATOM_TEXT = `[^${CONTROLS} ()<>[\\]:;@\\\\,"]+`;
const QUOTED_TEXT = `"(?:[^${CONTROLS.replace('-', '-\\u0008\\u000a-')}"\\\\]|\\\\[\\t -~\\u0080-\\uffff])*"`;
const BLANKS = /[ \t]*/y;
/** An atom of RFC 5322 with dots, and with characters outside ASCII. */
const ATOM = new RegExp(ATOM_TEXT, 'y');
const QUOTED = new RegExp(QUOTED_TEXT, 'y');
const WORD = new RegExp(`${ATOM_TEXT}|${QUOTED_TEXT}`, 'y');

/**
 * Parses a single mailbox of RFC 5322, as Go's `mail.ParseAddress` does: an address, a name with an address in angles, or a
 * group of one.
 * @returns the address; the quotes of a quoted local part are removed
 * @throws MailboxError
 */
export function parseMailbox(text: string): string {
  const parser = new MailboxParser(text);
  const address = parser.readMailbox(true);
  parser.skipComments();
  if (!parser.atEnd) throw new MailboxError('mail: expected single address');
  return address;
}

class MailboxParser {
  private readonly text: string;
  private position = 0;

  constructor(text: string) {
    this.text = text;
  }

  get atEnd(): boolean {
    return this.position >= this.text.length;
  }

  /** Skips blanks and comments, which nest. */
  skipComments(): void {
    this.match(BLANKS);
    while (this.peek('(')) {
      this.skipComment();
      this.match(BLANKS);
    }
  }

  readMailbox(allowsGroup: boolean): string {
    this.match(BLANKS);
    if (this.atEnd) throw new MailboxError('mail: no address');
    const start = this.position;
    const address = this.readAddress();
    if (address !== undefined) {
      this.match(BLANKS);
      if (this.peek('(')) this.skipComment();
      return address;
    }
    this.position = start;
    const phrase = this.peek('<') ? '' : this.readPhrase();
    this.match(BLANKS);
    if (allowsGroup && this.take(':')) return this.readGroup();
    if (!this.take('<')) {
      throw new MailboxError(/[\s"]/.test(phrase) ? 'mail: no angle-addr' : "mail: missing '@' or angle-addr");
    }
    const inAngles = this.readAddress();
    if (inAngles === undefined || !this.take('>')) throw new MailboxError('mail: unclosed angle-addr');
    return inAngles;
  }

  /** Reads an address; returns undefined if there is none. */
  private readAddress(): string | undefined {
    this.match(BLANKS);
    const local = this.peek('"') ? this.match(QUOTED)?.slice(1, -1).replace(/\\(.)/gs, '$1') : this.readAtom();
    if (local === undefined || local === '') return undefined;
    if (!this.take('@')) return undefined;
    this.match(BLANKS);
    const domain = this.readAtom();
    return domain === undefined ? undefined : `${local}@${domain}`;
  }

  private readAtom(): string | undefined {
    const atom = this.match(ATOM);
    return atom === undefined || /^\.|\.\.|\.$/.test(atom) ? undefined : atom;
  }

  private readPhrase(): string {
    const words: string[] = [];
    for (;;) {
      if (words.length > 0) this.skipComments();
      this.match(BLANKS);
      const word = this.match(WORD);
      if (word === undefined) break;
      words.push(word);
    }
    if (words.length === 0) throw new MailboxError('mail: missing word in phrase');
    return words.join(' ');
  }

  private readGroup(): string {
    this.skipComments();
    if (this.take(';')) throw new MailboxError('mail: empty group');
    const address = this.readMailbox(false);
    this.skipComments();
    if (!this.take(';')) throw new MailboxError('mail: group with multiple addresses');
    return address;
  }

  private skipComment(): void {
    let depth = 0;
    do {
      const character = this.text[this.position++];
      if (character === undefined) throw new MailboxError('mail: misformatted parenthetical comment');
      if (character === '\\') this.position++;
      if (character === '(') depth++;
      if (character === ')') depth--;
    } while (depth > 0);
  }

  private peek(character: string): boolean {
    return this.text.startsWith(character, this.position);
  }

  private take(character: string): boolean {
    const isThere = this.peek(character);
    if (isThere) this.position++;
    return isThere;
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position;
    const text = pattern.exec(this.text)?.[0];
    if (text !== undefined) this.position += text.length;
    return text;
  }
}
