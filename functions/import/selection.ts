import { organisationSection } from '../../shared/organisation/sections.ts';
import type { OnConflict } from './contract.ts';
import type { Inspection } from './inspect/inspection.ts';
import type { ImportReport } from './progress/report.ts';

/** The organisations of the file that a request selects. */
interface Selection {
  /** The organisations to import; all if it is absent or empty. */
  readonly orgIds?: readonly string[];
  /** The organisations to leave out. */
  readonly excludedOrgIds?: readonly string[];
}

/** The options that make one import of a file another one than the next. */
interface IdentifyingOptions extends Selection {
  readonly newOrgsOnly?: boolean;
  readonly withKeys: boolean;
  readonly onConflict?: OnConflict;
}

/** Returns whether a request selects an organisation, by its id. */
export function selector({ orgIds = [], excludedOrgIds = [] }: Selection): (orgId: string) => boolean {
  const [selected, excluded] = [new Set(orgIds), new Set(excludedOrgIds)];
  return (orgId) => (selected.size === 0 || selected.has(orgId)) && !excluded.has(orgId);
}

/** Warns of selected organisations that the file does not have, since their ids may be mistyped. */
export function warnOfMissing({ organisations }: Inspection, { orgIds = [] }: Selection, report: ImportReport): void {
  const found = new Set(organisations.map(({ orgId }) => orgId));
  const { type } = organisationSection.error;
  for (const id of new Set(orgIds))
    if (!found.has(id))
      report.addWarning({
        type,
        id,
        message: 'selected by org_ids, but not imported: the file does not have it, or excluded_org_ids leaves it out',
      });
}

/** Returns what equal imports have in common, by which one that is sent again resumes. */
export function importIdentity({ digest }: Inspection, options: IdentifyingOptions): string {
  const { withKeys, onConflict = 'report', orgIds = [], excludedOrgIds = [], newOrgsOnly = false } = options;
  const selection = [...orgIds.toSorted(), '-', ...excludedOrgIds.toSorted()];
  return [
    digest,
    onConflict,
    ...(withKeys ? ['keys'] : []),
    ...(selection.length === 1 ? [] : [JSON.stringify(selection)]),
    ...(newOrgsOnly ? ['new'] : []),
  ].join(' ');
}
