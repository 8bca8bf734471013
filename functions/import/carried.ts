import type { Section } from '../../shared/organisation/section.ts';
import { sections } from '../../shared/organisation/sections.ts';
import type { Inspection } from './inspect/inspection.ts';
import type { ImportReport } from './results/report.ts';
import type { ImportShare } from './share.ts';

/** The options that determine what of a file is imported. */
interface CarryingOptions {
  /** Whether machine and application keys are imported. */
  readonly withKeys: boolean;
  readonly share?: ImportShare | undefined;
}

/** Returns a phase's sections that have records to import. */
export function carriedSections(
  phase: Section['phase'],
  { counts }: Inspection,
  { withKeys }: CarryingOptions,
): Set<Section> {
  return new Set(
    sections.filter(
      (section) => section.phase === phase && (counts[section.name] ?? 0) > 0 && isCarried(section, withKeys),
    ),
  );
}

/** Returns the sections whose records hold such of other sections. */
export function holders(carried: ReadonlySet<Section>, { held }: Inspection): Section[] {
  const names = new Set([...carried].map(({ name }) => name).filter((name) => (held[name] ?? 0) > 0));
  return sections.filter(({ holds }) => holds !== undefined && names.has(holds.section.name));
}

function isCarried(section: Section, withKeys: boolean): boolean {
  return section.keys !== true || withKeys;
}

/** Counts the records and fields of the file that are not imported. */
export function countNotCarried(
  { counts, organisations, unknown, leftOut }: Inspection,
  { withKeys, share }: CarryingOptions,
  report: ImportReport,
): void {
  for (const section of sections) {
    if (isCarried(section, withKeys)) continue;
    report.count('notCarried', section.name, counts[section.name] ?? 0);
  }
  // What belongs to no organisation's share is counted by one task.
  const unshared = share === undefined || share.index === 0 ? [unknown] : [];
  for (const fields of [...unshared, leftOut, ...organisations.map(({ orphaned }) => orphaned)]) {
    for (const [name, count] of Object.entries(fields)) report.count('notCarried', name, count);
  }
}
