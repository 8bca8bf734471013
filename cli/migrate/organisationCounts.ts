// Sizes of the organisations in a migration.

import type { Counts } from '../../shared/collections/counts.ts';
import type { RecordVisitor } from '../../shared/exportFile/inspection.ts';
import { textAt } from '../../shared/json/jsonObject.ts';
import { organisationSection } from '../../shared/organisation/allSections.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import { humanUserSection } from '../../shared/organisation/sections/users.ts';
import type { OrganisationCounts, PlannedOrganisation } from './migrationTypes.ts';

/** An organisation of an export, with its size. */
export type CountedOrganisation = Omit<PlannedOrganisation, 'before'>;

interface OrganisationSize {
  name: string;
  people: number;
  records: number;
}

/** Names and sizes of the moved organisations, collected while they are read. */
export class OrganisationTally implements RecordVisitor {
  private readonly organisations = new Map<string, OrganisationSize>();

  add(record: OrganisationRecord): void {
    const { section, orgId, json } = record;
    const known = this.organisations.get(orgId) ?? this.open(orgId);
    known.records++;
    if (section === humanUserSection) known.people++;
    if (section === organisationSection) known.name = textAt(json, 'org.name', orgId);
  }

  reset(): void {
    this.organisations.clear();
  }

  get listed(): readonly CountedOrganisation[] {
    return [...this.organisations].map(([orgId, facts]) => ({ orgId, ...facts }));
  }

  private open(orgId: string): OrganisationSize {
    const facts = { name: orgId, people: 0, records: 0 };
    this.organisations.set(orgId, facts);
    return facts;
  }
}

/** The counts of an organisation on neither side. */
export const noCounts: OrganisationCounts = {
  absent: 0,
  equal: 0,
  different: 0,
  differentAsExpected: 0,
  onlyTarget: 0,
};

/** Returns the counts of compared records, by the outcomes of a comparison. */
export function recordCounts({ onlyFirst: absent = 0, onlySecond: onlyTarget = 0, ...both }: Counts = {}) {
  return { ...noCounts, ...both, absent, onlyTarget };
}
