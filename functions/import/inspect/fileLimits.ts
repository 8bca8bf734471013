import { dryRunTooLarge, tooManyInRequest } from '../../../shared/errors/errors.ts';
import { textAt } from '../../../shared/json/jsonObject.ts';
import { type FieldIssue, InvalidRecordError } from '../../../shared/organisation/message.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import type { Section } from '../../../shared/organisation/section.ts';
import { sections } from '../../../shared/organisation/sections.ts';

/** What a file may hold; as much as it does where there is no limit. */
export interface FileLimits {
  readonly organisations?: number;
  readonly records?: number;
  readonly clearPasswords?: number;
}

const SPLIT = 'split the file, or import some of its organisations at a time with org_ids';

/** What one pass over a file has used of its limits. */
export class FileBudget {
  private readonly limits: FileLimits;
  private records = 0;
  private clearPasswords = 0;

  constructor(limits: FileLimits = {}) {
    this.limits = limits;
  }

  /** @throws IdentityError 413 */
  checkOrganisations(count: number): void {
    const { organisations = Number.POSITIVE_INFINITY } = this.limits;
    if (count > organisations) throw tooManyInRequest(organisations, 'organisations', 'split the file');
  }

  /**
   * Counts a record that is imported.
   * @throws IdentityError 413
   */
  take({ clearPassword }: Pick<OrganisationRecord, 'clearPassword'>): void {
    const { records = Number.POSITIVE_INFINITY, clearPasswords = Number.POSITIVE_INFINITY } = this.limits;
    if (++this.records > records) throw dryRunTooLarge(records, SPLIT);
    if (clearPassword !== undefined && ++this.clearPasswords > clearPasswords)
      throw tooManyInRequest(clearPasswords, 'clear passwords', `hash them before the import, or ${SPLIT}`);
  }
}

/** ZITADEL's limit. Its rules set it for most ids; no operation finds a record by a longer one. */
const MAX_ID_CHARACTERS = 200;
const REASON = `value length must be at most ${MAX_ID_CHARACTERS} runes`;

/** The id of a user at an identity provider, which may be longer. */
const EXTERNAL_ID = 'providedUserId';

const idPaths: ReadonlyMap<Section, readonly string[]> = new Map(
  sections.map((section) => [section, findIdPaths(section)]),
);

/** Finds the fields that identify a record, or a record that it refers to. */
function findIdPaths({ key, references = [] }: Section): readonly string[] {
  const paths = new Set([...key, ...references.flatMap((reference) => reference.key)]);
  return [...paths].filter((path) => path !== EXTERNAL_ID && /^(?:\w+\.)*(?:id|\w+Id)$/.test(path));
}

/**
 * Checks the lengths of a record's ids.
 * @throws InvalidRecordError naming each id that is too long
 */
export function checkIds({ section, json, orgId }: OrganisationRecord): void {
  const issues = (idPaths.get(section) ?? [])
    .filter((path) => isTooLong(textAt(json, path, orgId)))
    .map((path): FieldIssue => ({ path, reason: REASON }));
  if (issues.length > 0) throw new InvalidRecordError(issues);
}

/**
 * Checks the length of an organisation's id.
 * @throws InvalidRecordError
 */
export function checkOrganisationId(orgId: string | undefined): void {
  if (orgId !== undefined && isTooLong(orgId)) throw new InvalidRecordError([{ path: '', reason: REASON }]);
}

function isTooLong(id: string): boolean {
  // A character has one or two units, so that only longer texts need counting.
  return id.length > MAX_ID_CHARACTERS && [...id].length > MAX_ID_CHARACTERS;
}
