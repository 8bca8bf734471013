import {
  findLanguage,
  findRegion,
  findScript,
  languageReplacements,
  regionReplacements,
  variantPosition,
  wholeTags,
} from './registry.ts';
import { readExtensions, SubtagReader } from './subtagReader.ts';

/** The tag of an undetermined language. */
export const UNDETERMINED = 'und';

/** The parts of a tag before its extensions. */
interface Core {
  language: string;
  script: string;
  region: string;
  readonly variants: readonly string[];
}

/**
 * Returns the canonical form of a language tag, as ZITADEL stores it: unknown subtags are dropped, deprecated ones
 * replaced. A text that is no tag is undetermined.
 *
 * It follows Go's `golang.org/x/text/language.Parse`, whose tag it returns even if that reports an error.
 */
export function canonicalLanguageTag(text: string): string {
  const whole = wholeTags.get(text.toLowerCase().replaceAll('_', '-'));
  if (whole !== undefined) return whole;
  const reader = new SubtagReader(text);
  const { token } = reader;
  if (token === 'x') return readExtensions(reader, readTransformed).join('-') || UNDETERMINED;
  if (token.length < 2 || token.length > 3) return UNDETERMINED;
  const core = readCore(reader, true);
  const extensions = reader.token.length === 1 ? readExtensions(reader, readTransformed) : [];
  // Go canonicalises only tags without an error.
  if (reader.token !== '' && extensions.length === 0) reader.fail();
  if (!reader.failed) replaceDeprecated(core);
  return formatTag(core, extensions);
}

/** Reads language, script, region and variants. */
function readCore(reader: SubtagReader, mergesExtended: boolean): Core {
  const core: Core & { variants: string[] } = { language: UNDETERMINED, script: '', region: '', variants: [] };
  core.language = reader.take(findLanguage) ?? UNDETERMINED;
  const extended: string[] = [];
  while (/^[a-z]..$/.test(reader.token)) {
    if (!mergesExtended) extended.push(reader.next());
    else core.language = reader.take(findLanguage) ?? core.language;
  }
  if (extended.length > 0) core.language = [core.language, ...extended].join('-');
  if (/^[a-z]...$/.test(reader.token)) core.script = reader.take(findScript) ?? '';
  if (reader.token.length === 2 || reader.token.length === 3) core.region = reader.take(findRegion) ?? '';
  const known = new Set<string>();
  while (reader.token.length >= 4) {
    const variant = reader.take((token) => (variantPosition(token) === undefined ? undefined : token));
    if (variant !== undefined) known.add(variant);
  }
  const position = (variant: string) => variantPosition(variant) ?? 0;
  core.variants.push(...[...known].sort((a, b) => position(a) - position(b)));
  return core;
}

/** Reads the tag inside an extension `t`. */
function readTransformed(reader: SubtagReader): string {
  return formatTag(readCore(reader, false), []).toLowerCase();
}

function replaceDeprecated(core: Core): void {
  const [language = '', implied = ''] = (languageReplacements.get(core.language) ?? core.language).split(/-(.*)/s);
  core.language = language;
  if (implied.length === 4 && core.script === '') core.script = implied;
  if (implied.length === 2 && core.region === '') core.region = implied;
  if (core.script === 'Qaai') core.script = 'Zinh';
  core.region = regionReplacements.get(core.region) ?? core.region;
}

function formatTag({ language, script, region, variants }: Core, extensions: readonly string[]): string {
  return [language, script, region, ...variants, ...extensions].filter((part) => part !== '').join('-');
}
