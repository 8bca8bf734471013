import { isJsonObject } from './jsonObject.ts';

const PLACEHOLDER = /\{\{([A-Za-z]\w*)\}\}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const NOW_MS = 600_000;
/** Salts of the hashes in the requests; other salts are a server's own. */
const KNOWN_SALTS = ['N9qo8uLOickgx2ZMRZoMye', 'M9qo8uLOickgx2ZMRZoMye'];
/** Begins anew in each run, so that runs on one instance have different ids. */
let counter = Date.now() * 1_000;

/** The values of one case's placeholders: numbers of 18 digits that no other case has. */
export class Placeholders {
  private readonly values = new Map<string, string>();
  private readonly url: URL;

  constructor(url: URL) {
    this.url = url;
  }

  /** Replaces placeholders by their values, in all texts. */
  fill(value: unknown): unknown {
    return mapTexts(value, (text) => text.replace(PLACEHOLDER, (_, name: string) => this.value(name)));
  }

  /** Replaces the placeholders' values, and whatever a server makes itself, by placeholders. */
  unfill(value: unknown): unknown {
    return mapTexts(value, (text) => {
      let unfilled = text;
      for (const [name, filled] of this.values) unfilled = unfilled.replaceAll(filled, `{{${name}}}`);
      return (
        unfilled
          .replace(/(?<!\d)[1-9]\d{17,18}(?!\d)/g, '{{gen}}')
          .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '{{gen}}')
          .replace(/(\$2[abxy]?\$\d\d\$)([./\w]{22})[./\w]{31}/g, (all, head: string, salt: string) =>
            KNOWN_SALTS.includes(salt) ? all : `${head}{{random}}`,
          )
          .replace(TIME, (time) => (Math.abs(Date.parse(time) - Date.now()) < NOW_MS ? '{{now}}' : time))
          .replaceAll(this.url.host, '{{host}}')
          .replaceAll(`.${this.url.hostname}`, '.{{hostname}}')
          // Messages of protobuf have a random no-break space.
          .replaceAll('\u00a0', ' ')
      );
    });
  }

  private value(name: string): string {
    if (name === 'hostname') return this.url.hostname;
    if (name === 'HOSTNAME') return this.url.hostname.toUpperCase();
    const known = this.values.get(name);
    if (known !== undefined) return known;
    counter++;
    const value = `7${String(counter).padStart(17, '0')}`;
    this.values.set(name, value);
    return value;
  }
}

/** Expands `{"$repeat": [text, times, before, after]}`, which keeps the cases small. */
export function expandRepetitions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expandRepetitions);
  if (!isJsonObject(value)) return value;
  if (Array.isArray(value.$repeat)) {
    const [text, times, before = '', after = '']: readonly unknown[] = value.$repeat;
    return `${before}${String(text).repeat(Number(times))}${after}`;
  }
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, expandRepetitions(part)]));
}

function mapTexts(value: unknown, convert: (text: string) => string): unknown {
  if (typeof value === 'string') return convert(value);
  if (Array.isArray(value)) return value.map((element) => mapTexts(element, convert));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, part]) => [convert(name), mapTexts(part, convert)]);
  return Object.fromEntries(entries);
}
