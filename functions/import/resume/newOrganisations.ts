import { z } from 'zod';
import { organisationKey } from '../../../shared/auth/authorise.ts';
import { organisationsExist } from '../../../shared/errors/errors.ts';
import type { DocumentKey, DocumentStore, Reader } from '../../../shared/store/store.ts';
import { inTurns } from '../../../shared/turns.ts';
import type { OrganisationHeader } from '../inspect/organisationDraft.ts';
import { stampPrefix } from '../stamp.ts';
import { importMarkKey, noteExpiry, readMark, removeMark } from './checkpoint.ts';
import type { Renewable } from './importProgress.ts';

const READ_BATCH = 500;
const stampsSchema = z.array(z.string());

/** A call of an import: its database, its own stamp and its clock. */
interface NewOrganisationsContext {
  readonly store: DocumentStore;
  readonly stamp: string;
  readonly now: () => Date;
}

/**
 * The rule of `new_orgs_only`: an import writes only into organisations that it creates itself. The stamps of all calls
 * of the import are stored before the first write, so that every call recognises what another one created.
 */
export class NewOrganisations implements Renewable {
  private readonly context: NewOrganisationsContext;
  private readonly key: DocumentKey;
  private readonly orgIds: readonly string[];
  private readonly stamps = new Set<string>();

  private constructor(context: NewOrganisationsContext, key: DocumentKey, orgIds: readonly string[]) {
    this.context = context;
    this.key = key;
    this.orgIds = orgIds;
  }

  /**
   * Begins an import into new organisations, or resumes it.
   * @throws IdentityError ALREADY_EXISTS naming organisations that the import did not create; nothing is written then
   */
  static async begin(
    context: NewOrganisationsContext,
    identity: string,
    organisations: readonly OrganisationHeader[],
    signal: AbortSignal,
  ): Promise<NewOrganisations> {
    const orgIds = organisations.map(({ orgId }) => orgId);
    const created = new NewOrganisations(context, importMarkKey(identity), orgIds);
    await created.confirm(signal);
    await created.save(context.store, stampPrefix(context));
    return created;
  }

  /**
   * Checks that every organisation that exists was created by this import.
   * @throws IdentityError ALREADY_EXISTS naming the others; the signal's reason
   */
  async confirm(signal: AbortSignal): Promise<void> {
    const foreign: string[] = [];
    for await (const batch of inTurns(this.orgIds, READ_BATCH, signal)) {
      const documents = await this.context.store.getMany(batch.map(organisationKey), ['createdAt']);
      // The stamps are read later: each was saved before its call created anything.
      await this.read(this.context.store);
      foreign.push(...batch.filter((_, index) => !this.isOwn(documents[index])));
    }
    if (foreign.length > 0) throw organisationsExist(foreign);
  }

  /** Lets the stamps live as long as the checkpoints that are saved until the next renewal. */
  renew(store: DocumentStore): Promise<void> {
    return this.save(store);
  }

  /** Ends a complete import: organisations that it created count as existing from now on. */
  finish(): Promise<void> {
    return removeMark(this.context.store, this.key);
  }

  /** Saves the stamps that are stored or known, and another one, under the version that was read: calls may run at once. */
  private save(store: DocumentStore, ...added: readonly string[]): Promise<void> {
    return store.transaction(async (transaction) => {
      const [stored] = await transaction.getMany([this.key], []);
      await this.read(transaction);
      for (const stamp of added) this.stamps.add(stamp);
      const fields = { body: JSON.stringify([...this.stamps]), expiresAt: noteExpiry(this.context.now()) };
      transaction.write([{ type: stored === undefined ? 'create' : 'update', key: this.key, fields }]);
    });
  }

  private async read(reader: Reader): Promise<void> {
    const body = await readMark(reader, this.key, this.context.now());
    for (const stamp of stampsSchema.parse(JSON.parse(body ?? '[]'))) this.stamps.add(stamp);
  }

  private isOwn(stored: { readonly createdAt?: string } | undefined): boolean {
    return stored === undefined || [...this.stamps].some((stamp) => stored.createdAt?.startsWith(stamp));
  }
}
