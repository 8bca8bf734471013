import { type Counts, total } from '../../shared/collections/counts.ts';
import { mirrorTooLarge } from '../../shared/errors/errors.ts';
import { recordNoun } from '../../shared/errors/nouns.ts';
import type { Surroundings } from '../terminal/command.ts';
import { counted, countList } from '../terminal/numberTexts.ts';
import { askText, canAsk } from '../terminal/questions.ts';
import type { Line } from '../terminal/terminal.ts';
import type { ImportResponse } from './importResponse.ts';

type Deletion = NonNullable<ImportResponse['deletions']>[number];

/** The records that an import has deleted or, after a dry run, would delete. */
export interface MirrorDeletions {
  readonly deleted: Readonly<Counts>;
  /** The deleted records, up to a maximum number. Users come first, then members and grants, then all other records. */
  readonly deletions: readonly Deletion[];
  readonly deletionsOmitted: number;
}

export function deletionsOf({ deletions = [], summary }: ImportResponse): MirrorDeletions {
  const { deleted = {}, deletionsOmitted = 0 } = summary;
  return { deleted, deletions, deletionsOmitted };
}

/**
 * The output lists each deleted record of these sections. For all other sections, it contains only the number of
 * deleted records. Each value is the type of the section's records.
 */
const listedSections: ReadonlyMap<string, string> = new Map([
  ['humanUsers', 'human_user'],
  ['machineUsers', 'machine_user'],
  ['tokens', 'token'],
  ['instanceMembers', 'instance_member'],
  ['orgMembers', 'org_member'],
  ['projectMembers', 'project_member'],
  ['projectGrantMembers', 'project_grant_member'],
  ['projectGrants', 'project_grant'],
  ['userGrants', 'user_grant'],
]);

export function deletionsTitle(isTrial: boolean): string {
  return isTrial ? 'Records to delete, because the source lacks them' : 'Deleted records, which the source lacks';
}

export function deletionLines({ deleted, deletions, deletionsOmitted }: MirrorDeletions): string[] {
  const listed = new Set(listedSections.values());
  const others = Object.fromEntries(Object.entries(deleted).filter(([name]) => !listedSections.has(name)));
  return [
    ...deletions.filter(({ type }) => listed.has(type)).map(deletionText),
    ...(total(others) === 0 ? [] : [countList(others)]),
    ...(deletionsOmitted === 0
      ? []
      : [`and ${counted(deletionsOmitted, 'further record')}, which the response does not list`]),
  ];
}

function deletionText({ type, orgId, id, name, roles = [] }: Deletion): string {
  const named = name === undefined ? id : `${name} (${id})`;
  const held = roles.length === 0 ? '' : `: ${roles.join(', ')}`;
  return `${recordNoun(type)} ${named} of organisation ${orgId}${held}`;
}

interface Asked extends Pick<Surroundings, 'stdin' | 'stderr' | 'signal' | 'environment'> {
  readonly options: { readonly 'max-deleted'?: number | undefined };
}

/**
 * @param about lines that the command prints before it asks the user
 * @returns the number of deletions that the user has confirmed. Undefined if the user did not confirm it, or if there
 * is no terminal at which the command can ask
 * @throws IdentityError MIRROR_DELETES_TOO_MUCH if the number of deletions is larger than `--max-deleted`
 */
export async function confirmDeletions(
  { deleted }: Pick<MirrorDeletions, 'deleted'>,
  target: string,
  asked: Asked,
  about: readonly Line[] = [],
): Promise<number | undefined> {
  const number = total(deleted);
  requirePermitted(number, asked);
  if (number === 0) return 0;
  if (!canAsk(asked)) return undefined;
  const question = `Type the number of records to delete in ${target}, ${number}:`;
  const answer = await askText(question, asked, about);
  return answer.trim() === String(number) ? number : undefined;
}

/** @throws IdentityError MIRROR_DELETES_TOO_MUCH if `--max-deleted` is smaller than the number of deletions */
export function requirePermitted(records: number, { options: { 'max-deleted': limit } }: Pick<Asked, 'options'>): void {
  if (limit !== undefined && records > limit) throw mirrorTooLarge({ records, limit });
}
