import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { DataOrgSchema as DataOrgV1Schema } from '@zitadel/proto/zitadel/v1_pb.js';
import { IMPORTED_FROM, type Section } from './sections/section.ts';

/**
 * A field that an organisation has in an export file. ZITADEL defines organisations in two forms, v1 and v2 (zitadel
 * 2.1).
 */
export interface OrganisationField {
  readonly name: string;
  readonly list: boolean;
  /** The schema of the field's value or list elements; undefined for a string or an enum. */
  readonly schema: DescMessage | undefined;
}

/**
 * Maps both spellings of each field's name to the field. Contains the fields of v1 and of v2, because every import
 * accepts both. If v1 and v2 define the same field, the definition in v2 is used.
 */
export const organisationFields: ReadonlyMap<string, OrganisationField> = new Map([
  [IMPORTED_FROM, { name: IMPORTED_FROM, list: false, schema: undefined }],
  ...[...DataOrgV1Schema.fields, ...DataOrgSchema.fields].flatMap((field): [string, OrganisationField][] => {
    const organisationField = toField(field);
    return [
      [field.name, organisationField],
      [field.jsonName, organisationField],
    ];
  }),
]);

function toField(field: DescField): OrganisationField {
  return {
    name: field.jsonName,
    list: field.fieldKind === 'list',
    schema: field.fieldKind === 'list' || field.fieldKind === 'message' ? field.message : undefined,
  };
}

const schemas = new Map<string, DescMessage>();
for (const field of organisationFields.values()) if (field.schema !== undefined) schemas.set(field.name, field.schema);

export function recordSchema({ name }: Section): DescMessage {
  const schema = name === 'org' ? DataOrgSchema : schemas.get(name);
  if (schema === undefined) throw new Error(`${name} is no section of the organisation document`);
  return schema;
}
