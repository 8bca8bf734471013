import { type DescField, type DescMessage, getOption, hasOption } from '@bufbuild/protobuf';
import type { Duration } from '@bufbuild/protobuf/wkt';
import { type FieldRules, rules } from '@zitadel/proto/validate/validate_pb.js';
import { recordSections } from '../../shared/organisation/allSections.ts';
import { keptFields } from '../../shared/organisation/keptFields.ts';
import { recordSchema } from '../../shared/organisation/recordSchema.ts';
import type { Section } from '../../shared/organisation/sections/section.ts';
import { code, table } from './markdown.ts';

export function sectionsTable(): string {
  const rows: { readonly names: string[]; readonly fields: string }[] = [];
  for (const section of recordSections) {
    const fields = fieldsOf(section);
    const last = rows.at(-1);
    // If adjacent sections have the same fields, they share a row. Other sections cannot, because the rows have the
    // order of sections in an export.
    if (last?.fields === fields) last.names.push(code(section.name));
    else rows.push({ names: [code(section.name)], fields });
  }
  return table(
    ['section', 'fields of a record'],
    rows.map(({ names, fields }) => [names.join(', '), fields]),
  );
}

/** Lists the fields of other releases' files that an import drops and counts, each with the reason. */
export function ignoredFieldsList(): string {
  return recordSections
    .flatMap(({ name, additional }) =>
      (additional?.ignored ?? []).map(({ path, reason }) => `- ${code(path)} of ${code(name)}: ${reason}`),
    )
    .join('\n');
}

/** Describes the fields of a section: first the fields of the outer object, then those of the inner object. */
export function fieldsOf(section: Section): string {
  if (section.collection === 'texts') return '`language` and texts: 2.4';
  const schema = recordSchema(section);
  const inner = schema.fields.find(({ jsonName }) => jsonName === section.inner);
  const outer = inOrder(schema).filter((field) => field !== inner && !(section.name === 'org' && isSection(field)));
  const kept = keptFields(section).map((field) =>
    field.type === 'text'
      ? `${code(field.path)} at most ${field.maxBytes.toLocaleString('en')} bytes`
      : code(field.path),
  );
  return [
    [...outer.flatMap((field) => describeField(field, '')), ...kept].join(', '),
    ...(inner?.message === undefined
      ? []
      : [`${code(inner.jsonName)}: ${describeFields(inner.message, '').join(', ')}`]),
  ]
    .filter((part) => part !== '')
    .join('; ');
}

function isSection({ jsonName }: DescField): boolean {
  return jsonName !== 'org' && recordSections.some(({ name }) => name === jsonName);
}

function inOrder({ fields }: DescMessage): DescField[] {
  return fields.toSorted((a, b) => a.number - b.number);
}

function describeFields(schema: DescMessage, prefix: string): string[] {
  return inOrder(schema).flatMap((field) => describeField(field, prefix));
}

/** The text for the most common rule, 1 to 200 characters. Instead of this text, the table shows the field in bold. */
const USUAL_LENGTH = '200';

function describeField(field: DescField, prefix: string): string[] {
  const path = `${prefix}${field.jsonName}`;
  const described = describeRules(field);
  const fieldText = described.join() === USUAL_LENGTH ? `**${code(path)}**` : [code(path), ...described].join(' ');
  return field.message !== undefined && hasRules(field.message)
    ? [fieldText, ...describeFields(field.message, `${path}.`)]
    : [fieldText];
}

function hasRules({ fields }: DescMessage): boolean {
  return fields.some(
    (field) => describeRules(field).length > 0 || (field.message !== undefined && hasRules(field.message)),
  );
}

function describeRules(field: DescField): string[] {
  if (!hasOption(field, rules)) return [];
  const { type, message } = getOption(field, rules);
  return [...(message?.required === true ? ['(required)'] : []), ...describeType(type)];
}

function describeType({ case: kind, value }: FieldRules['type']): string[] {
  switch (kind) {
    case 'string': {
      const { prefix = '', wellKnown, maxBytes } = value;
      const length = lengthText(value);
      return [
        ...(maxBytes === 0n ? length : [`not empty, at most ${number(maxBytes)} bytes`]),
        ...(prefix === '' ? [] : [`beginning with ${code(prefix)}`]),
        ...(wellKnown.case === 'email' ? [`an e-mail address${value.ignoreEmpty ? ' or empty' : ''}`] : []),
      ];
    }
    case 'bytes':
      return [`1 to ${number(value.maxLen)} bytes`];
    case 'duration':
      return [`${secondsOf(value.gte)} s to ${secondsOf(value.lte)} s`];
    case 'enum':
      return value.notIn.length > 0 ? ['specified'] : [];
    default:
      return [];
  }
}

function lengthText({ minLen = 0n, maxLen = 0n }: { readonly minLen?: bigint; readonly maxLen?: bigint }): string[] {
  if (maxLen === 0n) return [];
  return [minLen === 0n ? `–${number(maxLen)}` : number(maxLen)];
}

function number(value: bigint | undefined): string {
  return Number(value ?? 0).toLocaleString('en');
}

function secondsOf(duration: Duration | undefined): number {
  return Number(duration?.seconds ?? 0);
}
