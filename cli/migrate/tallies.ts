import type { RecordVisitor } from '../../functions/import/inspect/inspection.ts';
import { type Counts, increase } from '../../shared/collections/counts.ts';
import { textAt } from '../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import { humanUserSection } from '../../shared/organisation/sections/users.ts';
import { organisationSection } from '../../shared/organisation/sections.ts';
import type { Comparison } from '../compare/comparison.ts';
import type { MigrationPlan, OrganisationCounts } from './documents.ts';

/** Bounds the organisations that a plan or a result lists. */
const MAX_LISTED = 1_000;

type Described = Omit<MigrationPlan['organisations'][number], 'before'>;

/** Names and sizes of the organisations that move, collected while they are read. */
export class OrganisationTally implements RecordVisitor {
  private readonly organisations = new Map<string, { name: string; people: number; records: number }>();

  add({ section, orgId, json }: OrganisationRecord): void {
    const known = this.organisations.get(orgId) ?? { name: orgId, people: 0, records: 0 };
    known.records++;
    if (section === humanUserSection) known.people++;
    if (section === organisationSection) known.name = textAt(json, 'org.name', orgId);
    this.organisations.set(orgId, known);
  }

  reset(): void {
    this.organisations.clear();
  }

  /** The first organisations. */
  get listed(): readonly Described[] {
    return [...this.organisations].slice(0, MAX_LISTED).map(([orgId, facts]) => ({ orgId, ...facts }));
  }

  /** The number of further ones. */
  get omitted(): number {
    return Math.max(0, this.organisations.size - MAX_LISTED);
  }
}

/** The counts of an organisation that neither side has. */
export const nothing: OrganisationCounts = { absent: 0, equal: 0, different: 0, differentAsExpected: 0, onlyTarget: 0 };

/** Returns how an organisation's records on both sides stand to each other. */
export function organisationCounts({ organisations }: Comparison, orgId: string): OrganisationCounts {
  return countsOf(organisations.get(orgId) ?? {});
}

/** Returns the same for all organisations. */
export function allCounts({ counts }: Comparison): OrganisationCounts {
  const sum: Counts = {};
  for (const ofSection of counts.values())
    for (const [outcome, count] of Object.entries(ofSection)) increase(sum, outcome, count);
  return countsOf(sum);
}

function countsOf({ onlyFirst: absent = 0, onlySecond: onlyTarget = 0, ...both }: Counts): OrganisationCounts {
  return { ...nothing, ...both, absent, onlyTarget };
}
