import { warn } from '../../shared/errors/warnings.ts';
import type { Inspection } from '../../shared/exportFile/inspection.ts';
import { organisationSection, sections } from '../../shared/organisation/allSections.ts';
import type { Section } from '../../shared/organisation/sections/section.ts';
import type { ImportSettings } from './context.ts';
import type { ImportWarning } from './contract.ts';
import type { ImportReport } from './results/report.ts';

/**
 * Warns about each organisation that the request selects but the file does not contain. The user may have mistyped its
 * id.
 */
export function missingWarnings({ organisations }: Inspection, { orgIds }: ImportSettings): ImportWarning[] {
  const missing = new Set(orgIds).difference(new Set(organisations.map(({ orgId }) => orgId)));
  const { type } = organisationSection.error;
  return Array.from(missing, (id) => ({ type, id, ...warn('organisation_missing', {}) }));
}

export function carriedSections(
  phase: Section['phase'],
  { counts }: Inspection,
  { withKeys }: ImportSettings,
): Set<Section> {
  return new Set(
    sections.filter(
      (section) => section.phase === phase && (counts[section.name] ?? 0) > 0 && isCarried(section, withKeys),
    ),
  );
}

export function parentSections(carried: ReadonlySet<Section>, inspection: Inspection): Section[] {
  const names = new Set([...carried].map(({ name }) => name).filter((name) => (inspection.nested[name] ?? 0) > 0));
  return sections.filter(({ nested }) => nested !== undefined && names.has(nested.section.name));
}

export function isCarried(section: Section, withKeys = false): boolean {
  return section.keys !== true || withKeys;
}

export function countNotCarried(
  { counts, organisations, unknown, leftOut }: Inspection,
  { withKeys }: ImportSettings,
  report: ImportReport,
): void {
  for (const section of sections) {
    if (isCarried(section, withKeys)) continue;
    report.count('notCarried', section.name, counts[section.name] ?? 0);
  }
  for (const fields of [unknown, leftOut, ...organisations.map(({ orphaned }) => orphaned)]) {
    for (const [name, count] of Object.entries(fields)) report.count('notCarried', name, count);
  }
}

export function orgIdsOf({ organisations }: Inspection): string[] {
  return organisations.map(({ orgId }) => orgId);
}
