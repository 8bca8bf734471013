import { defined } from '../defined.ts';
import { shortenedText } from '../errors/identityError.ts';
import type { OrganisationRecord } from './record.ts';
import { readableId } from './recordPlan.ts';
import { type RecordIssue, reportedIssue } from './relations.ts';

/**
 * The maximum number of errors that a response lists, and the maximum number of warnings. Both limits save memory, and
 * keep the response below the size limit of the platform.
 */
export const MAX_LISTED_ISSUES = 10_000;

/**
 * The maximum length of an issue's id, message and parameters together. They may quote texts of the file. Quoted valid
 * texts fit into this length.
 */
const MAX_ISSUE_CHARACTERS = 4_000;

interface RecordNotice {
  readonly type: string;
  readonly id?: string | undefined;
  readonly message: string;
  readonly params?: Readonly<Record<string, string>>;
}

/** Shortens each text of an issue if all its texts together are too long. */
export function withShortTexts<Notice extends RecordNotice>(notice: Notice): Notice {
  const { id, message, params = {} } = notice;
  const length = Object.values(params).reduce((sum, value) => sum + value.length, (id?.length ?? 0) + message.length);
  if (length <= MAX_ISSUE_CHARACTERS) return notice;
  const short = (text: string) => shortenedText(text, MAX_ISSUE_CHARACTERS);
  return {
    ...notice,
    ...(id === undefined ? {} : { id: short(id) }),
    message: short(message),
    ...(notice.params && {
      params: Object.fromEntries(Object.entries(params).map(([name, value]) => [name, short(value)])),
    }),
  };
}

export function toRecordError(
  record: OrganisationRecord,
  issue: RecordIssue,
  type: string = record.section.error.type,
) {
  const id = readableId(record);
  return withShortTexts({ type, ...defined({ id }), ...reportedIssue(issue) });
}
