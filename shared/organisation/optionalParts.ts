import { type DescField, ScalarType } from '@bufbuild/protobuf';
import { recordSchema } from './recordSchema.ts';
import type { FieldPath } from './relations.ts';
import { isRequired } from './rules.ts';
import type { Section } from './sections/section.ts';

const neededFields = new WeakMap<Section, ReadonlySet<FieldPath>>();

/**
 * Returns the fields that an import must not leave out. These fields identify the record, refer to other records,
 * contain the record's state, or are in `Section.needed`.
 */
function neededBy(section: Section): ReadonlySet<FieldPath> {
  const cachedFields = neededFields.get(section);
  if (cachedFields !== undefined) return cachedFields;
  const { key, error, references = [], unique = [], needed = [] } = section;
  const related = [...references.flatMap((reference) => reference.key), ...unique.flatMap(({ parts }) => parts)];
  const paths = [...key, ...error.id, ...related].filter((path) => !path.includes('['));
  const fields = new Set([...paths, ...needed, 'state']);
  neededFields.set(section, fields);
  return fields;
}

const STEP = /^(?<name>\w+)(?<position>\[\d+\])?$/;

/**
 * Returns the smallest part of a record that contains the field at `path` and that an import may leave out. The part is
 * an element of a list, or a field. The record must not give more rights without the part. Numbers, durations and
 * booleans often limit rights, so an import may leave them out only if `Section.optional` lists them. Returns undefined
 * if there is no such part.
 * @param path the path of an invalid field, such as `user.phone.phone` or `roleKeys[2]`
 */
export function optionalPart(section: Section, path: string): string | undefined {
  if (section.name === 'org') return undefined;
  const needed = neededBy(section);
  let schema = recordSchema(section);
  let at = '';
  let part: string | undefined;
  for (const step of path.split('.')) {
    const { name = '', position = '' } = STEP.exec(step)?.groups ?? {};
    at = at === '' ? name : `${at}.${name}`;
    const field = schema.fields.find(({ jsonName }) => jsonName === name);
    if (field === undefined) return undefined;
    if (position !== '') return `${at}${position}`;
    if (needed.has(at)) return undefined;
    if (section.optional?.includes(at) === true) return at;
    if (!isRequired(field) && at !== section.inner) {
      if (isLimit(field)) return undefined;
      part = at;
    }
    if (field.message === undefined) break;
    schema = field.message;
  }
  return part;
}

/**
 * True if the values of a field may limit rights. The type decides this: numbers, booleans and durations often limit
 * rights.
 */
function isLimit({ fieldKind, message, scalar }: DescField): boolean {
  if (fieldKind === 'list') return false;
  if (message !== undefined) return message.typeName.startsWith('google.protobuf.');
  return scalar !== undefined && scalar !== ScalarType.STRING;
}
