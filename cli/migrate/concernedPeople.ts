// The people whom errors and manual steps are about.

import type { RecordVisitor } from '../../shared/exportFile/inspection.ts';
import { textAt } from '../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import { reportedId } from '../../shared/organisation/recordPlan.ts';
import { humanUserSection, SEED_TYPE } from '../../shared/organisation/sections/users.ts';
import { recordSection } from '../../shared/organisation/sections.ts';
import { type Notice, noticeMessage } from '../terminal/notices.ts';
import { inspectStaged } from './exportStage.ts';
import type { MigrationRun } from './migrationRun.ts';
import type { ConcernedPerson } from './migrationTypes.ts';

/** The types of notices whose id is that of a person. */
const personTypes: readonly string[] = [humanUserSection.error.type, SEED_TYPE];
const links = recordSection('userLinks');

/**
 * Returns the people whom notices are about, with their names and addresses from the export. Reads the export again only
 * if there are any.
 */
export async function listConcernedPeople(
  run: MigrationRun,
  notices: readonly Notice[],
): Promise<readonly ConcernedPerson[]> {
  const reasons = new Map<string, Set<string>>();
  const add = (userId: string, notice: Notice) =>
    reasons.set(userId, (reasons.get(userId) ?? new Set()).add(noticeMessage(notice)));
  for (const notice of notices)
    if (notice.id !== undefined && personTypes.includes(notice.type)) add(notice.id, notice);
  const ofLinks = Map.groupBy(
    notices.filter(({ type }) => type === links.error.type),
    ({ id }) => id,
  );
  const readExport = (visit: (record: OrganisationRecord) => void) => inspectStaged(run, visiting(visit));
  if (ofLinks.size > 0)
    await readExport((record) => {
      if (record.section.name !== links.name) return;
      for (const notice of ofLinks.get(reportedId(record)) ?? []) add(textAt(record.json, 'userId', ''), notice);
    });
  const people = new Map<string, ConcernedPerson>();
  if (reasons.size > 0)
    await readExport((record) => {
      const of = record.section === humanUserSection ? reasons.get(reportedId(record)) : undefined;
      if (of !== undefined) people.set(reportedId(record), describePerson(record, [...of]));
    });
  return [...people.values()];
}

/** Returns a visitor without memory, whose effects a second reading repeats. */
function visiting(add: (record: OrganisationRecord) => void): RecordVisitor {
  return { add, reset: () => undefined };
}

function describePerson(record: OrganisationRecord, reasons: readonly string[]): ConcernedPerson {
  const { json, orgId } = record;
  const text = (path: string) => textAt(json, `user.${path}`, orgId);
  const name = text('profile.displayName') || `${text('profile.firstName')} ${text('profile.lastName')}`.trim();
  const [userName, address] = [text('userName'), text('email.email')];
  return { id: reportedId(record), orgId, userName, name, address, reasons: [...reasons] };
}
