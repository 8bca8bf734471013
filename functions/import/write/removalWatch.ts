import { type Removals, readRemovals } from '../../../shared/accounts/organisationRemovals.ts';
import { organisationKey } from '../../../shared/auth/authorise.ts';
import { organisationRemoved } from '../../../shared/errors/errors.ts';
import { READ_BATCH, type Reader } from '../../../shared/store/store.ts';

/**
 * The removals of organisations as an import knows them. An import ends where one of its own organisations is removed, so
 * that no record is orphaned. Records of another organisation count as missing as soon as its removal begins.
 */
export class RemovalWatch {
  /** The removals that a batch is checked against. */
  removals: Removals;
  private readonly reader: Reader;
  private readonly orgIds: readonly string[];
  private readonly first: string;
  /** The organisations that the import's records are written into. */
  private existing: readonly string[] = [];

  /** @param orgIds the organisations to import */
  constructor(reader: Reader, orgIds: readonly string[], removals: Removals) {
    this.reader = reader;
    this.orgIds = orgIds;
    this.first = removals.version;
    this.removals = removals;
  }

  /**
   * @param orgIds the organisations to import
   * @throws IdentityError ABORTED naming one that is being removed
   */
  static async begin(reader: Reader, orgIds: readonly string[]): Promise<RemovalWatch> {
    const watch = new RemovalWatch(reader, orgIds, await readRemovals(reader));
    watch.requireNoneInRemoval(watch.removals);
    return watch;
  }

  /**
   * Requires from now on that organisations exist.
   * @throws IdentityError ABORTED naming one that has been removed since the import began
   */
  async expect(orgIds: readonly string[]): Promise<void> {
    this.existing = orgIds;
    if ((await readRemovals(this.reader)).version !== this.first) await this.refresh();
  }

  /**
   * Takes note of removals that have begun or ended.
   * @throws IdentityError ABORTED naming an organisation of this import
   */
  async refresh(): Promise<void> {
    const removals = await readRemovals(this.reader);
    this.requireNoneInRemoval(removals);
    for (let start = 0; start < this.existing.length; start += READ_BATCH) {
      const batch = this.existing.slice(start, start + READ_BATCH);
      const stored = await this.reader.getMany(batch.map(organisationKey), []);
      const removed = batch.find((_, index) => stored[index] === undefined);
      if (removed !== undefined) throw organisationRemoved({ orgId: removed });
    }
    this.removals = removals;
  }

  private requireNoneInRemoval(removals: Removals): void {
    if (removals.orgIds.size === 0) return;
    const removed = this.orgIds.find((orgId) => removals.orgIds.has(orgId));
    if (removed !== undefined) throw organisationRemoved({ orgId: removed });
  }
}
