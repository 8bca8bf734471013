import { z } from 'zod';
import type { Section } from './section.ts';
import { sections } from './sections.ts';

const count = z.record(z.string(), z.int().positive());
const counts = count.describe('Numbers of records by section; those of none are left out.');

const importError = z.strictObject({
  type: z.string().describe('The kind of record, such as `human_user`.'),
  id: z.string().optional(),
  message: z.string().describe('`ID=<id> Message=<key>`, as ZITADEL says it.'),
});

const importWarning = z.strictObject({ type: z.string(), id: z.string(), message: z.string() });

const lists = sections.flatMap(({ success }) => (success === undefined ? [] : [[success.field, listOf(success)]]));
const organisation = z
  .strictObject({ ...Object.fromEntries(lists), orgId: z.string() })
  .meta({ id: 'ImportedOrganisation', description: 'The ids of what the import wrote into one organisation.' });

/** The answer of an import (interface 4.3, contract 5.7 and 5.8), with our summary. */
export const importAnswer = z
  .strictObject({
    errors: z.array(importError).optional().describe('The records that could not be imported, and why.'),
    success: z.strictObject({ orgs: z.array(organisation).optional() }).describe('What was written, by organisation.'),
    summary: z.strictObject({
      created: counts,
      unchanged: count.describe('What was there with equal content.'),
      overwritten: count.optional(),
      skipped: count.optional(),
      failed: count,
      notCarried: count.describe('What the file holds and this import does not take.'),
      warnings: z.array(importWarning).describe('What was imported, and will not work.'),
      proved: z.boolean().describe('Whether the file had a manifest, and matched it.'),
      resumed: z.boolean().describe('Whether the import went on where an earlier call had stopped.'),
      dryRun: z.literal(true).optional().describe('That nothing was written.'),
      idsOmitted: z.literal(true).optional().describe('That there were too many ids to list.'),
    }),
  })
  .meta({ id: 'ImportReport' });

/** What an import answers. */
export type ImportAnswer = z.output<typeof importAnswer>;

/** An entry of `errors` in the import response (contract 5.7). */
export type ImportError = z.output<typeof importError>;

/** Something about a record that was imported and will not work, which its owner would only find out at login. */
export type ImportWarning = z.output<typeof importWarning>;

function listOf({ entry }: NonNullable<Section['success']>): z.ZodType {
  if (Array.isArray(entry)) return z.array(z.string()).optional();
  const part = z.union([z.string(), z.array(z.string())]).optional();
  return z.array(z.strictObject(Object.fromEntries(Object.keys(entry).map((name) => [name, part])))).optional();
}
