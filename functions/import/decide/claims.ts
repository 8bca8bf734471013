import { issueParams } from '../../../shared/errors/issueText.ts';
import { zitadelErrors } from '../../../shared/errors/recordIssues.ts';
import { describeContent } from '../../../shared/organisation/describedRecord.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { KeyedIssue, RecordIssue } from '../../../shared/organisation/relations.ts';
import { type DocumentKey, documentPath, type StoredDocument, type Write } from '../../../shared/store/store.ts';

interface Holder {
  readonly orgId: string;
  readonly ownerId: string;
}

interface TakenName {
  readonly issue: RecordIssue;
  readonly holder: string;
}

/**
 * A stored record that has a name which a record of the file needs. The commit that writes the record of the file
 * deletes the stored record and the documents that reserve its names.
 */
export interface FreedHolder {
  readonly key: DocumentKey;
  readonly stored: StoredDocument;
  readonly claims: readonly DocumentKey[];
}

/**
 * Tracks which record has each unique name while the outcomes of a batch are decided. This record is the name's holder.
 * Collects the changes of holders, and returns the writes for these changes.
 */
export class ClaimLedger {
  private readonly before: ReadonlyMap<string, StoredDocument>;
  private readonly after = new Map<string, { key: DocumentKey; holder: Holder | undefined }>();

  private readonly freed: ReadonlyMap<string, FreedHolder>;
  private readonly overwrites: boolean;
  readonly released = new Map<string, DocumentKey>();

  /**
   * @param before the stored documents that reserve names; the key is the document's path
   * @param freed the stored records to delete when a record of the batch needs their names; the key is the record's
   * path
   * @param overwrites whether the import may change the names of stored records
   */
  constructor(
    before: ReadonlyMap<string, StoredDocument>,
    freed: ReadonlyMap<string, FreedHolder>,
    overwrites: boolean,
  ) {
    this.before = before;
    this.freed = freed;
    this.overwrites = overwrites;
  }

  /**
   * Gives a record its unique names, and frees the names that the record no longer has.
   * @param held the keys of all names that the stored version of the record may have
   * @returns a name that belongs to another record, if any; if so, no name changes its holder
   */
  claim(plan: RecordPlan, held: readonly DocumentKey[]): TakenName | undefined {
    const taken = this.findTaken(plan);
    if (taken === undefined) this.apply(plan, held);
    return taken;
  }

  giveUp({ key: recordKey }: RecordPlan, held: readonly DocumentKey[]): void {
    for (const key of held) this.free(key, documentPath(recordKey));
  }

  /** Returns the writes that apply the changes, at most one per name. */
  writes(): Write[] {
    const writes: Write[] = [];
    for (const key of this.released.values()) writes.push({ type: 'delete', key });
    for (const [name, { key, holder }] of this.after) {
      const stored = this.before.get(name);
      if (holder === undefined) {
        if (stored !== undefined) writes.push({ type: 'delete', key });
      } else if (stored === undefined) writes.push({ type: 'create', key, fields: holder });
      else if (stored.ownerId !== holder.ownerId) writes.push({ type: 'update', key, fields: holder });
    }
    return writes;
  }

  private findTaken(plan: RecordPlan): TakenName | undefined {
    for (const { key, taken } of plan.claims) {
      if (taken === 'adjusted') continue;
      const holder = this.findHolder(documentPath(key));
      if (this.freed.has(holder?.ownerId ?? '')) continue;
      if (holder !== undefined && holder.ownerId !== documentPath(plan.key))
        return { issue: takenIssue(taken, plan, holder, this.overwrites), holder: holder.ownerId ?? '' };
    }
    return undefined;
  }

  private apply(plan: RecordPlan, held: readonly DocumentKey[]): void {
    const holder = { orgId: plan.record.orgId, ownerId: documentPath(plan.key) };
    this.giveUp(plan, held);
    for (const { key } of plan.claims) this.release(this.findHolder(documentPath(key))?.ownerId);
    for (const { key } of plan.claims) this.after.set(documentPath(key), { key, holder });
  }

  /** Deletes a stored record whose names the batch needs, and frees all its names. */
  private release(path = ''): void {
    const freed = this.freed.get(path);
    if (freed === undefined) return;
    this.released.set(path, freed.key);
    for (const key of freed.claims) this.free(key, path);
  }

  private free(key: DocumentKey, owner: string): void {
    const name = documentPath(key);
    if (this.findHolder(name)?.ownerId === owner) this.after.set(name, { key, holder: undefined });
  }

  private findHolder(name: string): Partial<Holder> | undefined {
    const changed = this.after.get(name);
    return changed === undefined ? this.before.get(name) : changed.holder;
  }
}

/**
 * The issue contains the id of the record that has the name, because the callers of imports may read every
 * organisation.
 */
function takenIssue(
  taken: KeyedIssue,
  { record, key }: RecordPlan,
  { orgId = '', ownerId = '' }: Partial<Holder>,
  overwrites: boolean,
): RecordIssue {
  const collection = `${key.collection}/`;
  // A document that belongs to no record of this collection stores whether login names contain the organisation's
  // domain.
  if (!ownerId.startsWith(collection)) return { ...taken, reason: 'login_names_settled' };
  const holder = ownerId.slice(collection.length);
  const isForeign = orgId !== record.orgId && orgId !== holder;
  const params = {
    holder,
    organisation: isForeign ? orgId : undefined,
    ...(isName(taken) ? { name: recordName(record), changing: overwrites ? holder : undefined } : {}),
  };
  return { ...taken, params: issueParams(params) };
}

/** True if an issue is about a record's own name. A domain or an external identity does not count as a name here. */
function isName({ key }: KeyedIssue): boolean {
  const { reason } = zitadelErrors[key];
  return reason === 'login_name_taken' || reason === 'name_taken' || reason === 'application_name_taken';
}

function recordName({ section, json, orgId }: RecordPlan['record']): string | undefined {
  return describeContent(section, json, orgId).name || undefined;
}
