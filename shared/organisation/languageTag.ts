export const UNDETERMINED = 'und';

/**
 * Tags that ZITADEL replaces as a whole, whereas CLDR replaces each subtag separately. Each pair consists of a tag and
 * the form in which ZITADEL stores it.
 */
const wholeTags: ReadonlyMap<string, string> = new Map(
  splitWords(`
    en-gb-oed:en-GB-oxendict i-ami:ami i-bnn:bnn i-default:en-x-i-default i-enochian:und-x-i-enochian i-hak:hak
    i-klingon:tlh i-lux:lb i-mingo:see-x-i-mingo i-navajo:nv i-pwn:pwn i-tao:tao i-tay:tay i-tsu:tsu mo:ro-MD mol:ro-MD
    no-bok:nb no-nyn:nn sgn-be-fr:sfb sgn-be-nl:vgt sgn-ch-de:sgg zh-guoyu:cmn zh-min:nan-x-zh-min zh-min-nan:nan twi:tw
  `).map((pair): [string, string] => {
    const [tag = '', stored = ''] = pair.split(':');
    return [tag, stored];
  }),
);

/** Languages that ZITADEL stores unchanged, although CLDR replaces each of them with its macrolanguage. */
const individualLanguages: ReadonlySet<string> = new Set(
  splitWords(`
    aju als arb ayr azj bcc bcl bxk bxr cld cmn cnr cwd dgo dhd dik diq ekk emk esk fat fuc gaz gbo gno gom gug gya hdn
    hea ike khk kmr knc kng kpv lvs mhr mup npi ojg ory pbu pes plt pnb prs quz rmy spy src swc swh ttq umu uzn xpe
    xsl ydd zai zsm zyb
  `),
);

let names: Intl.DisplayNames | undefined;

/** Caches the canonical forms of tags, because a file contains many people but few languages. */
const knownTags = new Map<string, string>();
const MAX_KNOWN = 1_000;
const MAX_KNOWN_LENGTH = 35;

/**
 * Returns the canonical form of a language tag, as ZITADEL stores it (zitadel 2.5). Replaces deprecated subtags, and
 * drops invalid subtags. Returns `und` for an unknown language, and for a text that is not a tag.
 *
 * CLDR has names for few of the 8,000 languages with a three-letter code, so any three letters count as a language.
 * @example
 * canonicalLanguageTag('en_us'); // 'en-US'
 * canonicalLanguageTag('iw'); // 'he'
 */
export function canonicalLanguageTag(text: string): string {
  const tag = knownTags.get(text) ?? toCanonicalTag(text);
  if (knownTags.size < MAX_KNOWN && text.length <= MAX_KNOWN_LENGTH) knownTags.set(text, tag);
  return tag;
}

/**
 * True if CLDR has an English name for a language. Loads the list of names at the first call, because loading it takes
 * 12 ms.
 */
export function hasEnglishName(language: string): boolean {
  names ??= new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
  return names.of(language) !== undefined;
}

/** Maps a modifier of a POSIX locale to the subtag of a script. In `sr_RS@latin`, the modifier is `latin`. */
const scripts: ReadonlyMap<string, string> = new Map([
  ['latin', 'Latn'],
  ['cyrillic', 'Cyrl'],
  ['devanagari', 'Deva'],
]);

const POSIX_LOCALE =
  /^(?<language>[a-z]{2,3})(?:[_-](?<region>[a-z]{2}))?(?=[.@])(?:\.[\w-]+)?(?:@(?<modifier>[a-z\d]+))?$/i;

/** Returns the tag of a POSIX locale (`de_DE.UTF-8`), or of the first language in a browser's list (`de,en;q=0.8`). */
function tagOf(text: string): string {
  const first = (text.split(/[,;]/)[0] ?? '').trim();
  const { language, region = '', modifier = '' } = POSIX_LOCALE.exec(first)?.groups ?? {};
  if (language === undefined) return first;
  return [language, scripts.get(modifier.toLowerCase()) ?? '', region].filter((subtag) => subtag !== '').join('-');
}

function toCanonicalTag(text: string): string {
  const subtags = tagOf(text)
    .toLowerCase()
    .split(/[-_]/)
    .filter((subtag) => /^[a-z\d]{1,8}$/.test(subtag));
  const whole = wholeTags.get(subtags.join('-'));
  if (whole !== undefined) return whole;
  // In `zh-yue`, the extended language `yue` replaces `zh`.
  if (/^[a-z]{2,3}-[a-z]{3}$/.test(subtags.slice(0, 2).join('-'))) subtags.shift();
  const [language = '', ...otherSubtags] = subtags;
  if (language === 'x') return subtags.length === 1 ? UNDETERMINED : subtags.join('-');
  if (!/^[a-z]{2,3}$/.test(language)) return UNDETERMINED;
  const isKnown = language.length === 3 || hasEnglishName(language);
  if (isKnown && !individualLanguages.has(language)) return canonicalBeginning(subtags);
  return canonicalBeginning([UNDETERMINED, ...otherSubtags]).replace(UNDETERMINED, isKnown ? language : UNDETERMINED);
}

/**
 * The maximum number of subtags to drop from an invalid prefix of a tag. If the prefix ends in `t-m0`, which is an
 * extension and its key without a value, the prefix without these two subtags is valid.
 */
const MAX_OPEN_SUBTAGS = 2;

/** Returns the canonical form of the longest valid prefix of a tag. The prefix may be the language alone. */
function canonicalBeginning(subtags: readonly string[]): string {
  let [least, most] = [1, subtags.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (tagUpTo(subtags, middle) === undefined) most = middle - 1;
    else least = middle;
  }
  return tagUpTo(subtags, least) ?? UNDETERMINED;
}

function tagUpTo(subtags: readonly string[], length: number): string | undefined {
  for (let end = length; end >= Math.max(1, length - MAX_OPEN_SUBTAGS); end--) {
    const tag = canonicalTag(subtags.slice(0, end).join('-'));
    if (tag !== undefined) return tag;
  }
  return undefined;
}

function canonicalTag(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}

function splitWords(text: string): string[] {
  return text.trim().split(/\s+/);
}
