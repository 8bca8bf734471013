import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { organisationFields } from '../../../shared/organisation/recordSchema.ts';
import { type Organisation, zitadelRequest } from '../fixtures/organisations.ts';

/** A field of an export file with a single value, at any depth. */
export interface FieldPlace {
  readonly title: string;
  /** The organisation's field, and whether it is a list. */
  readonly section: string;
  readonly isList: boolean;
  /**
   * The steps from the record to the field. Empty for a field of the organisation itself. The first element of a list
   * is 0.
   */
  readonly steps: readonly (string | number)[];
  /** Undefined for a field of the organisation itself. */
  readonly field: DescField | undefined;
}

/** All fields with a single value in ZITADEL's definitions: of every section, v1 and v2. */
export const fieldPlaces: readonly FieldPlace[] = [
  ...new Map([...organisationFields.values()].map((field) => [field.name, field])).values(),
].flatMap(({ name, list, schema }): FieldPlace[] => {
  const place = { section: name, isList: list };
  if (schema === undefined) return [{ ...place, title: name, steps: [], field: undefined }];
  return [...valuesOf(schema, [])].map(({ steps, field }) => ({
    ...place,
    title: [name, ...steps.filter((step) => step !== 0)].join('.'),
    steps,
    field,
  }));
});

function* valuesOf(
  schema: DescMessage,
  before: readonly (string | number)[],
): Generator<Pick<FieldPlace, 'steps'> & { field: DescField }> {
  for (const field of schema.fields) {
    const steps = [...before, field.jsonName, ...(field.fieldKind === 'list' ? [0] : [])];
    const { message } = field;
    if (message === undefined || message.typeName.startsWith('google.')) yield { steps, field };
    else yield* valuesOf(message, steps);
  }
}

const [full = { orgId: 'o' }] = zitadelRequest('import-request');

/**
 * Returns an organisation with one record of the place's section, which ZITADEL would accept except for the given
 * value.
 */
export function withValueAt({ section, isList, steps }: FieldPlace, value: unknown): Organisation {
  // A copy, because reading a record changes it.
  const { orgId, org, ...records } = structuredClone(full);
  if (steps.length === 0) return { orgId, org, [section]: value };
  const [first = {}] = [records[section]].flat();
  const record: unknown = withValue(first, steps, value);
  return { orgId, org, [section]: isList ? [record] : record };
}

/** Returns a copy of a JSON value with the given value at the end of the steps. */
export function withValue(json: unknown, [step, ...others]: readonly (string | number)[], value: unknown): unknown {
  if (step === undefined) return value;
  if (typeof step === 'number') return [withValue(Array.isArray(json) ? json[step] : {}, others, value)];
  const object: object = typeof json === 'object' && json !== null ? json : {};
  return { ...object, [step]: withValue(Reflect.get(object, step), others, value) };
}
