import { z } from 'zod';
import { manifestSchema } from './manifest.ts';
import { isList, type Section } from './section.ts';
import { sections } from './sections.ts';

const form = 'each in the form of ZITADEL’s message `zitadel.admin.v1.DataOrg`';
const records = Object.fromEntries(sections.map((section) => [section.name, recordsOf(section)]));
const plain = {
  org: z.looseObject({ name: z.string().optional() }),
  orgState: z.string(),
};

/** An export file as it is written: organisations, then what the export says of itself. */
export const exportFile = z
  .strictObject({
    orgs: z.array(
      z
        .strictObject({ ...optional({ ...plain, ...records }), orgId: z.string() })
        .meta({ id: 'Organisation', description: `An organisation with its records, ${form}.` }),
    ),
    manifest: manifestSchema,
  })
  .meta({ id: 'ExportFile' });

/**
 * An export file as an import takes it: by both spellings, with unknown fields, which are passed over, and `null` for what
 * is not there. For descriptions only: such a file is never held whole.
 */
export const importedFile = z
  .object({
    orgs: z
      .array(
        z
          .object({ ...nullish({ ...plain, ...records }), orgId: z.string() })
          .meta({ id: 'GivenOrganisation', description: `An organisation with its records, ${form}.` }),
      )
      .nullish(),
    manifest: manifestSchema.nullish().describe('What the file is compared with, where it has one.'),
  })
  .meta({
    id: 'GivenFile',
    description: 'An export file, of this service or of ZITADEL, v1 or v2.',
    anyOf: [{ required: ['orgs'] }, { maxProperties: 0 }],
  });

function recordsOf(section: Section): z.ZodType {
  const { inner } = section;
  const record = z.looseObject(inner === undefined ? {} : { [inner]: z.looseObject({}) });
  return isList(section) ? z.array(record) : record;
}

function optional(shape: Record<string, z.ZodType>): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(shape).map(([name, contract]) => [name, contract.optional()]));
}

function nullish(shape: Record<string, z.ZodType>): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(shape).map(([name, contract]) => [name, contract.nullish()]));
}
