import type { ImportWarning } from '../../../functions/import/contract.ts';
import { mirrorChanged, mirrorTooLarge } from '../../../shared/errors/errors.ts';
import { zitadelMirrorDefault, zitadelMirrorOutdated } from '../../../shared/errors/placeErrors.ts';
import { because } from '../../../shared/errors/recordIssues.ts';
import { warn } from '../../../shared/errors/warnings.ts';
import type { Inspection } from '../../../shared/exportFile/inspection.ts';
import { requireMirrorable } from '../../../shared/exportFile/mirroredContent.ts';
import { userKey } from '../../../shared/store/documentKeys.ts';
import { documentPath } from '../../../shared/store/store.ts';
import type { DoneRecords, PlaceImportOptions } from '../../exports/placeInterfaces.ts';
import type { RunDatabase } from '../../records/runDatabase.ts';
import type { ImportLedger, LedgerIssue } from '../import/ledger.ts';
import type { TargetRecords } from '../import/targetRecords.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { readInstance } from '../zitadelInstance.ts';
import { deleteRecords } from './deleteInZitadel.ts';
import { type ReportedDeletions, reportDeletions } from './deletionReport.ts';
import { type DoomedRecord, type DoomedRecords, findDoomed } from './doomedRecords.ts';
import { findLastOwners, type InstanceMember, readInstanceMembers } from './instanceOwners.ts';
import { findNameHolders } from './nameHolders.ts';
import { type Origin, readOrigins } from './origins.ts';
import { findReferred, type KeptRecord } from './referrers.ts';
import { requireNotDeleted } from './targetDeletions.ts';

interface MirroredFile {
  readonly database: RunDatabase;
  readonly ledger: ImportLedger;
  readonly target: TargetRecords;
  readonly inspection: Inspection;
  readonly options: PlaceImportOptions;
  readonly callerId: string;
}

type Origins = ReadonlyMap<string, Origin>;

/**
 * Deletes records in ZITADEL that the file does not contain. Deletes nothing if a record of the file fails, if a record
 * must not be deleted, or if another user has created or changed a record to delete.
 */
export class Mirror {
  readonly doomed: DoomedRecords;
  private readonly connection: ZitadelConnection;
  private readonly file: MirroredFile;
  /** Those users to delete who have roles in the instance. ZITADEL deletes the roles together with the users. */
  private readonly along: readonly InstanceMember[];
  private origins: Origins = new Map();
  private isDeleting = false;
  private readonly deleted = new Set<string>();

  private constructor(
    connection: ZitadelConnection,
    file: MirroredFile,
    doomed: DoomedRecords,
    members: readonly InstanceMember[],
  ) {
    this.connection = connection;
    this.file = file;
    this.doomed = doomed;
    this.along = members.filter(({ userId }) => this.userOf(userId) !== undefined);
  }

  /**
   * Finds the records to delete. Adds an error to the ledger for each record that must not be deleted.
   * @throws IdentityError if the file does not prove that it is complete, if it contains ZITADEL's default
   * organisation, or if the deletions would undo an import of a newer file or a change by another user
   */
  static async plan(connection: ZitadelConnection, file: MirroredFile): Promise<Mirror> {
    const { database, target, inspection, options } = file;
    requireMirrorable(inspection);
    await requireNotDefault(connection, file);
    const doomed = await findDoomed(database, target.zitadel, inspection, options, connection.signal);
    const hasUsers = [...doomed.values()].some(({ section: { collection } }) => collection === 'users');
    const mirror = new Mirror(connection, file, doomed, hasUsers ? await readInstanceMembers(connection) : []);
    if (doomed.size === 0) return mirror;
    mirror.requireImported(await mirror.readOrigins());
    await mirror.addErrors();
    return mirror;
  }

  /**
   * @throws IdentityError ZITADEL_MIRROR_DELETED if records of the file were deleted in ZITADEL on purpose, because the
   * import would create them again
   */
  async requireNotDeleted(): Promise<void> {
    const { ledger, inspection, target, callerId, options } = this.file;
    const guarded = inspection.organisations.filter(
      ({ orgId }) => target.organisations.has(orgId) && isGuarded(orgId, options),
    );
    const orgIds = new Set(guarded.map(({ orgId }) => orgId));
    const { readTime = '' } = inspection.manifest ?? {};
    await requireNotDeleted(this.connection, { ledger, orgIds, callerId, readTime });
  }

  /** Called for a dry run. Counts all records to delete as deleted, unless an error would prevent the deletions. */
  foresee(): void {
    if (!this.file.ledger.hasFailures) for (const path of this.doomed.keys()) this.deleted.add(path);
  }

  /**
   * Called before the import. Deletes records whose names are needed for new records of the file. First deletes the
   * records that refer to them.
   * @throws IdentityError MIRROR_DELETES_TOO_MUCH if there are more records to delete than the caller permits. Nothing
   * is changed in this case
   */
  async begin(): Promise<void> {
    const { ledger, options } = this.file;
    const { maxDeleted: limit = 0 } = options;
    const records = this.doomed.size + this.along.length;
    this.isDeleting = !ledger.hasFailures;
    if (!this.isDeleting || records === 0) return;
    if (records > limit) throw mirrorTooLarge({ records, limit });
    await this.delete(await findNameHolders(ledger, this.doomed, this.connection.signal));
  }

  /**
   * Called after the import. Deletes the remaining records. First checks again that no other user has changed them, and
   * that no other record refers to them.
   */
  async finish(): Promise<void> {
    const { ledger } = this.file;
    const remaining = this.records(false);
    if (!this.isDeleting || remaining.length === 0 || ledger.hasFailures) return;
    const origins = await this.readOrigins();
    for (const record of remaining)
      if (isGuarded(record.orgId, this.file.options) && origins.get(record.path)?.importedAt === undefined)
        this.addError(record, because('deletion_of_changed', {}));
    await this.addErrors();
    if (!ledger.hasFailures) await this.delete(remaining);
  }

  get progress(): DoneRecords {
    return { records: this.deleted.size, total: this.isDeleting ? this.doomed.size : 0 };
  }

  get deletions(): ReportedDeletions {
    const roles = this.along.flatMap((member) => {
      const user = this.userOf(member.userId);
      return user !== undefined && this.deleted.has(user.path) ? [{ ...member, orgId: user.orgId }] : [];
    });
    return reportDeletions(this.records(true), roles);
  }

  get warnings(): ImportWarning[] {
    const records = this.doomed.size + this.along.length;
    if (records === 0 || this.deleted.size > 0) return [];
    return [{ type: 'mirror', ...warn('nothing_deleted', { records }) }];
  }

  private async delete(records: readonly DoomedRecord[]): Promise<void> {
    if (records.length === 0) return;
    // The second side in the database still contains the deleted records. So it does not show ZITADEL's current
    // records.
    this.file.database.isSecondComplete = false;
    await deleteRecords(this.connection, records, {
      aggregateOf: ({ path }) => this.origins.get(path)?.aggregateId ?? '',
      onDeleted: ({ path }) => void this.deleted.add(path),
      onRefused: (record, error) => this.addError(record, because('deletion_refused', { error })),
    });
  }

  private async readOrigins(): Promise<Origins> {
    this.origins = await readOrigins(this.connection, this.file.callerId, [...this.doomed.values()]);
    return this.origins;
  }

  private requireImported(origins: Origins): void {
    const { readTime = '' } = this.file.inspection.manifest ?? {};
    const changed = new Map<string, string>();
    for (const record of this.doomed.values()) {
      const { section, orgId, id, path } = record;
      if (!isGuarded(orgId, this.file.options)) continue;
      const name = `${section.error.type} ${id}`;
      const { importedAt } = origins.get(path) ?? {};
      if (importedAt === undefined && !changed.has(orgId)) changed.set(orgId, name);
      const created = importedAt === undefined ? 0 : Number(importedAt / 1_000n);
      if (created > Date.parse(readTime))
        throw zitadelMirrorOutdated({ orgId, record: name, readTime, created: new Date(created).toISOString() });
    }
    const [first, ...others] = changed;
    if (first === undefined) return;
    const [orgId, record] = first;
    const otherIds = others.slice(0, MAX_NAMED).map(([id]) => id);
    throw mirrorChanged({ orgId, record, others: otherIds.length === 0 ? undefined : otherIds });
  }

  private async addErrors(): Promise<void> {
    for (const { record, issue } of await this.findKept()) this.addError(record, issue);
  }

  private async findKept(): Promise<readonly KeptRecord[]> {
    const { connection, doomed, file } = this;
    const { database, ledger, inspection, target, callerId } = file;
    const orgIds = new Set(inspection.organisations.map(({ orgId }) => orgId));
    const referred = await findReferred(connection, {
      database,
      ledger,
      doomed,
      orgIds,
      existing: target.organisations,
    });
    const caller = this.userOf(callerId);
    const isDeleted = (userId: string) => this.userOf(userId) !== undefined;
    const members = this.along.length === 0 ? [] : await readInstanceMembers(connection);
    const owners = await findLastOwners(connection, members, { callerId, isDeleted });
    return [
      ...referred,
      ...(caller === undefined ? [] : [{ record: caller, issue: because('deletion_of_caller', {}) }]),
      ...owners.flatMap((userId) => {
        const record = this.userOf(userId);
        return record === undefined ? [] : [{ record, issue: because('deletion_of_owner', {}) }];
      }),
    ];
  }

  private addError({ section, id }: KeptRecord['record'], issue: LedgerIssue): void {
    this.file.ledger.addKept(section.name, id, issue);
  }

  private userOf(userId: string): DoomedRecord | undefined {
    return this.doomed.get(documentPath(userKey(userId)));
  }

  private records(areDeleted: boolean): DoomedRecord[] {
    return [...this.doomed.values()].filter(({ path }) => this.deleted.has(path) === areDeleted);
  }
}

/** True if the import must not undo changes that other users have made in the organisation. */
function isGuarded(orgId: string, { replaceChanged }: PlaceImportOptions): boolean {
  return replaceChanged?.includes(orgId) !== true;
}

const MAX_NAMED = 20;

/**
 * The project of ZITADEL's console belongs to the default organisation, so the file must not contain this organisation.
 */
async function requireNotDefault(
  connection: ZitadelConnection,
  { inspection, target }: Pick<MirroredFile, 'inspection' | 'target'>,
): Promise<void> {
  const { defaultOrgId: orgId = '' } = await readInstance(connection);
  const isInFile = inspection.organisations.some((organisation) => organisation.orgId === orgId);
  if (isInFile && target.organisations.has(orgId)) throw zitadelMirrorDefault({ orgId });
}
