import { z } from 'zod';
import { organisationKey } from '../../../shared/auth/authorise.ts';
import { organisationsExist } from '../../../shared/errors/errors.ts';
import type { DocumentKey } from '../../../shared/store/store.ts';
import { inTurns } from '../../../shared/turns.ts';
import type { OrganisationHeader } from '../inspect/organisationDraft.ts';
import { importMarkKey, readMark, removeMark, saveMark } from '../progress/checkpoint.ts';
import { type BatchContext, stampPrefix } from './batchContext.ts';

const READ_BATCH = 500;
const stampsSchema = z.array(z.string());

/**
 * The rule of `new_orgs_only`: an import writes only into organisations that it creates itself. The stamps of all calls
 * of the import are stored before the first write, so that a call that resumes recognises what earlier ones created.
 */
export class NewOrganisations {
  private readonly context: BatchContext;
  private readonly key: DocumentKey;
  private readonly orgIds: readonly string[];
  private readonly stamps: readonly string[];

  private constructor(context: BatchContext, key: DocumentKey, orgIds: readonly string[], stamps: readonly string[]) {
    this.context = context;
    this.key = key;
    this.orgIds = orgIds;
    this.stamps = stamps;
  }

  /**
   * Begins an import into new organisations, or resumes it.
   * @throws IdentityError ALREADY_EXISTS naming organisations that the import did not create; nothing is written then
   */
  static async begin(
    context: BatchContext,
    identity: string,
    organisations: readonly OrganisationHeader[],
    signal: AbortSignal,
  ): Promise<NewOrganisations> {
    const key = importMarkKey(identity);
    const earlier = stampsSchema.parse(JSON.parse((await readMark(context.store, key, context.stamp)) ?? '[]'));
    const orgIds = organisations.map(({ orgId }) => orgId);
    await new NewOrganisations(context, key, orgIds, earlier).confirm(signal);
    const stamps = [...earlier, stampPrefix(context)];
    await saveMark(context.store, key, JSON.stringify(stamps), context.stamp);
    return new NewOrganisations(context, key, orgIds, stamps);
  }

  /**
   * Checks that every organisation that exists was created by this import.
   * @throws IdentityError ALREADY_EXISTS naming the others; the signal's reason
   */
  async confirm(signal: AbortSignal): Promise<void> {
    const foreign: string[] = [];
    for await (const batch of inTurns(this.orgIds, READ_BATCH, signal)) {
      const documents = await this.context.store.getMany(batch.map(organisationKey), ['createdAt']);
      foreign.push(...batch.filter((_, index) => !this.isOwn(documents[index])));
    }
    if (foreign.length > 0) throw organisationsExist(foreign);
  }

  /** Ends a complete import: organisations that it created count as existing from now on. */
  finish(): Promise<void> {
    return removeMark(this.context.store, this.key);
  }

  private isOwn(stored: { readonly createdAt?: string } | undefined): boolean {
    return stored === undefined || this.stamps.some((stamp) => stored.createdAt?.startsWith(stamp));
  }
}
