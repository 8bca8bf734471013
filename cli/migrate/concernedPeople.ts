import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import { recordSection } from '../../shared/organisation/allSections.ts';
import { humanUserSection, SEED_TYPE } from '../../shared/organisation/sections/users.ts';
import type { IdentifiedRecord } from '../records/runDatabase.ts';
import { type Notice, noticeMessage } from '../terminal/notices.ts';
import type { MigrationRun } from './migrationRun.ts';
import type { ConcernedPerson } from './migrationTypes.ts';

/** The types of errors and manual steps whose id is the id of a person. */
const personTypes: readonly string[] = [humanUserSection.error.type, SEED_TYPE];
const links = recordSection('userLinks');

/** Lists the people whom the given errors and manual steps concern. Reads their names and addresses from the export. */
export async function listConcernedPeople(
  { database, signal }: MigrationRun,
  notices: readonly Notice[],
): Promise<readonly ConcernedPerson[]> {
  const reasons = new Map<string, Set<string>>();
  const add = (userId: string, notice: Notice) =>
    reasons.set(userId, (reasons.get(userId) ?? new Set()).add(noticeMessage(notice)));
  for (const notice of notices)
    if (notice.id !== undefined && personTypes.includes(notice.type)) add(notice.id, notice);
  const ofLinks = Map.groupBy(
    notices.filter(({ type }) => type === links.error.type),
    ({ id = '' }) => id,
  );
  for await (const { id, content } of database.firstWithIds(signal, links.name, [...ofLinks.keys()]))
    for (const notice of ofLinks.get(id) ?? []) add(textAt(parseObject(content.body), 'userId', ''), notice);
  const people = new Map<string, ConcernedPerson>();
  for await (const { id, ...person } of database.firstWithIds(signal, humanUserSection.name, [...reasons.keys()]))
    people.set(id, describePerson(id, person, [...(reasons.get(id) ?? [])]));
  return [...people.values()];
}

/** Joins two lists of people. A person who is in both lists gets the reasons of both lists. */
export function joinPeople(
  people: readonly ConcernedPerson[],
  others: readonly ConcernedPerson[],
): readonly ConcernedPerson[] {
  const joined = new Map(people.map((person) => [person.id, person]));
  for (const { reasons, ...person } of others)
    joined.set(person.id, { ...person, reasons: [...(joined.get(person.id)?.reasons ?? []), ...reasons] });
  return [...joined.values()];
}

function describePerson(
  id: string,
  { orgId, content }: Pick<IdentifiedRecord, 'orgId' | 'content'>,
  reasons: readonly string[],
): ConcernedPerson {
  const json = parseObject(content.body);
  const text = (path: string) => textAt(json, `user.${path}`, orgId);
  const name = text('profile.displayName') || `${text('profile.firstName')} ${text('profile.lastName')}`.trim();
  const [userName, address] = [text('userName'), text('email.email')];
  return { id, orgId, userName, name, address, reasons };
}
