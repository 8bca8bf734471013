// The deletions of an import that mirrors its source, shown and confirmed.

import { total } from '../../shared/collections/counts.ts';
import { recordNoun } from '../../shared/errors/nouns.ts';
import type { ImportResponse } from '../exports/importResponse.ts';
import type { Surroundings } from '../terminal/command.ts';
import { counted, countList } from '../terminal/numberTexts.ts';
import { askText, canAsk } from '../terminal/questions.ts';
import { type Line, section } from '../terminal/terminal.ts';

type Deletion = NonNullable<ImportResponse['deletions']>[number];

/** The sections whose deletions are listed in full, with the types of their records: people, what they own and may do. */
const listedSections: ReadonlyMap<string, string> = new Map([
  ['humanUsers', 'human_user'],
  ['machineUsers', 'machine_user'],
  ['orgMembers', 'org_member'],
  ['projectMembers', 'project_member'],
  ['projectGrantMembers', 'project_grant_member'],
  ['projectGrants', 'project_grant'],
  ['userGrants', 'user_grant'],
]);

/** Lists the deletions of a mirroring import: each user, member and grant, and the number of other records. */
export function deletionLines({ deletions = [], summary }: ImportResponse): readonly Line[] {
  const { deleted = {}, dryRun = false, deletionsOmitted = 0 } = summary;
  const listed = new Set(listedSections.values());
  const others = Object.fromEntries(Object.entries(deleted).filter(([name]) => !listedSections.has(name)));
  const lines = [
    ...deletions.filter(({ type }) => listed.has(type)).map(deletionText),
    ...(total(others) === 0 ? [] : [countList(others)]),
    ...(deletionsOmitted === 0 ? [] : [`the response does not name ${counted(deletionsOmitted, 'record')} of them`]),
  ];
  return section(dryRun ? 'Would be deleted, since the source lacks it' : 'Deleted, since the source lacks it', lines);
}

function deletionText({ type, orgId, id, name, roles = [] }: Deletion): string {
  const named = name === undefined ? id : `${name} (${id})`;
  const held = roles.length === 0 ? '' : `: ${roles.join(', ')}`;
  return `${recordNoun(type)} ${named} of organisation ${orgId}${held}`;
}

/**
 * Asks a person at a terminal for the number of deletions.
 * @param plan the response of a dry run
 * @returns the number that the person has consented to; undefined without consent, and for a plan with errors
 */
export async function confirmDeletions(
  plan: ImportResponse,
  target: string,
  asked: Pick<Surroundings, 'stdin' | 'stderr' | 'signal' | 'environment'>,
): Promise<number | undefined> {
  if (plan.errors !== undefined) return undefined;
  const number = total(plan.summary.deleted ?? {});
  if (number === 0) return 0;
  if (!canAsk(asked)) return undefined;
  const question = `Type the number of records to delete in ${target}, ${number}:`;
  const answer = await askText(question, asked, deletionLines(plan));
  return answer.trim() === String(number) ? number : undefined;
}
