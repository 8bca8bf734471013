import { z } from 'zod';
import { addTallies, type ExportedManifest, exportedManifest, manifestSchema, type Tally } from './exportFile.ts';
import type { LeftToDoEntry } from './leftToDo.ts';

/** The size limit of a parts document. */
export const MAX_PARTS_BYTES = 16_000_000;

const part = z.strictObject({
  path: z.string().describe('The part’s path, in the bucket of the document.'),
  generation: z.string().describe('The generation of the object.'),
  manifest: manifestSchema.describe('What the part’s own manifest says of its records.'),
});

/** The schema of the document that names the parts of an export, each an export file of its own. */
export const partsDocument = z.strictObject({
  parts: z.array(part).min(1),
  manifest: exportedManifest.describe('The manifest of all parts together.'),
  execution: z.string().describe('What the tasks that have finished the export have in common; empty without tasks.'),
});

/** The document that names the parts of an export. */
export type PartsDocument = z.infer<typeof partsDocument>;

/** One part that a parts document names. */
export type PartEntry = PartsDocument['parts'][number];

/** Bounds the list of a document, so that it does not grow with the number of parts. */
const MAX_LEFT_TO_DO = 1_000;

/** Combines the manifests of an export's parts, in their order, to that of the whole. */
export function combineManifests(manifests: readonly [ExportedManifest, ...ExportedManifest[]]): ExportedManifest {
  const { leftToDoOmitted: _, ...first } = manifests[0];
  const entries = distinct(manifests.flatMap(({ leftToDo }) => leftToDo));
  const leftToDo = entries.slice(0, MAX_LEFT_TO_DO);
  const omitted = manifests.reduce((sum, { leftToDoOmitted = 0 }) => sum + leftToDoOmitted, 0);
  const leftToDoOmitted = omitted + entries.length - leftToDo.length;
  return {
    ...first,
    ...addTallies(manifests),
    leftToDo,
    ...(leftToDoOmitted === 0 ? {} : { leftToDoOmitted }),
  };
}

/** Whether the manifests of some parts add up to that of the whole. */
export function addUp({ parts, manifest }: PartsDocument): boolean {
  return isEqual(addTallies(parts.map((one) => one.manifest)), manifest);
}

/** Whether two manifests say the same of their records. */
export function isEqual(first: Tally, second: Tally): boolean {
  const names = new Set([...Object.keys(first.counts), ...Object.keys(second.counts)]);
  const areEqual = [...names].every((name) => (first.counts[name] ?? 0) === (second.counts[name] ?? 0));
  return areEqual && first.digest === second.digest;
}

/** Each part lists what is about all records, such as a lack of keys. */
function distinct(entries: readonly LeftToDoEntry[]): LeftToDoEntry[] {
  return [...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values()];
}
