import type { DescMessage } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { readFileRecord } from '../../shared/exportFile/fileRecord.ts';
import { isJsonObject, type JsonObject, putAt, valueAt } from '../../shared/json/jsonObject.ts';
import { recordSections } from '../../shared/organisation/allSections.ts';
import { recordSchema } from '../../shared/organisation/recordSchema.ts';
import type { Section } from '../../shared/organisation/sections/section.ts';
import { everySection, recordsOf } from '../support/fixtures/everySection.ts';

/** A field or the elements of a list, by a path in which every list has a single element. */
function* pathsIn(schema: DescMessage, prefix: string): Generator<string> {
  for (const { jsonName, fieldKind, message } of schema.fields) {
    const path = `${prefix}${jsonName}`;
    yield path;
    if (fieldKind === 'list') yield `${path}[]`;
    if (message === undefined || message.typeName.startsWith('google.')) continue;
    yield* pathsIn(message, fieldKind === 'list' ? `${path}[].` : `${path}.`);
  }
}

const invalid: readonly unknown[] = [null, 7, 'text', true, {}, [], [null], ''];

/** Returns a copy of a record with a value at a path; a list keeps its first element before the changed one. */
function withValue(record: JsonObject, path: string, value: unknown): JsonObject {
  const copy = structuredClone(record);
  const [list = '', rest] = path.split('[]');
  if (rest === undefined) {
    putAt(copy, path, value);
    return copy;
  }
  const given = valueAt(copy, list);
  const [first] = Array.isArray(given) ? given : [];
  const element = isJsonObject(first) ? structuredClone(first) : {};
  if (rest !== '') putAt(element, rest.slice(1), value);
  putAt(copy, list, [...(first === undefined ? [] : [first]), rest === '' ? value : element]);
  return copy;
}

function outcome(section: Section, record: JsonObject): string | undefined {
  const item = { text: JSON.stringify(record), path: [section.name] };
  const { invalid: issue, leftOut = [] } = readFileRecord(section, item, { orgId: 'O', checked: true });
  if (issue !== undefined) return 'record fails';
  return leftOut.length === 0 ? undefined : `without ${leftOut.map(({ field }) => field).join(', ')}`;
}

/** The outcomes of all invalid values of a field; undefined if each is valid or an absent value. */
function outcomesOf(section: Section, record: JsonObject, path: string): string | undefined {
  const byOutcome = new Map<string, string[]>();
  for (const value of invalid) {
    const found = outcome(section, withValue(record, path, value));
    if (found === undefined) continue;
    byOutcome.set(found, [...(byOutcome.get(found) ?? []), JSON.stringify(value)]);
  }
  if (byOutcome.size === 0) return undefined;
  return `${path}: ${[...byOutcome].map(([found, values]) => `${found} (${values.join(' ')})`).join('; ')}`;
}

it('an invalid field costs the record only where its absence would change rights or the identity', async () => {
  const organisation = everySection('O', ['Q']);
  const sections = recordSections.filter(({ name }) => name !== 'org' && name !== 'loginTexts');
  const texts = sections.map((section) => {
    const [record = {}] = recordsOf(organisation, section);
    const lines = Array.from(pathsIn(recordSchema(section), ''), (path) => outcomesOf(section, record, path));
    return [section.name, ...lines.filter((line) => line !== undefined)].join('\n  ');
  });
  await expect(`${texts.join('\n\n')}\n`).toMatchFileSnapshot('../fixtures/invalid-fields.txt');
});
