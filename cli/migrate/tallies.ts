import type { RecordVisitor } from '../../functions/import/inspect/inspection.ts';
import type { Counts } from '../../shared/collections/counts.ts';
import { textAt } from '../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import { humanUserSection } from '../../shared/organisation/sections/users.ts';
import { organisationSection } from '../../shared/organisation/sections.ts';
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

  get listed(): readonly Described[] {
    return [...this.organisations].slice(0, MAX_LISTED).map(([orgId, facts]) => ({ orgId, ...facts }));
  }

  get omitted(): number {
    return Math.max(0, this.organisations.size - MAX_LISTED);
  }
}

/** The counts of an organisation that neither side has. */
export const nothing: OrganisationCounts = { absent: 0, equal: 0, different: 0, differentAsExpected: 0, onlyTarget: 0 };

/** Returns how records on both sides stand to each other, by the outcomes of their comparison. */
export function recordCounts({ onlyFirst: absent = 0, onlySecond: onlyTarget = 0, ...both }: Counts = {}) {
  return { ...nothing, ...both, absent, onlyTarget };
}
