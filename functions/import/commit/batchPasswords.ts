import { hashPassword, verifyPassword } from '../../../shared/auth/passwordHashing.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { documentPath, type StoredDocument, type Write } from '../../../shared/store/store.ts';
import { type Decided, isWritten } from '../stages.ts';

/**
 * Hashes the clear passwords of a batch, each only once. Hashing is slow, so a second attempt to write the batch uses
 * the same hashes.
 */
export class BatchPasswords {
  private readonly cost: number;
  private readonly signal: AbortSignal;
  private readonly hashes = new Map<RecordPlan, Promise<string>>();
  private readonly verified = new Map<RecordPlan, { readonly hash: string; readonly result: Promise<boolean> }>();

  constructor(cost: number, signal: AbortSignal) {
    this.cost = cost;
    this.signal = signal;
  }

  async complete(decided: Decided): Promise<Decided> {
    const written = decided.records.filter(({ plan, outcome }) => isWritten(outcome) && hasClearPassword(plan));
    if (written.length === 0) return decided;
    const hashes = new Map(await Promise.all(written.map(({ plan }) => this.hashOf(plan))));
    const writes = decided.writes.map((write): Write => {
      const passwordHash = hashes.get(documentPath(write.key));
      if (passwordHash === undefined || write.type === 'delete') return write;
      const added = { passwordHash };
      if (write.type === 'create') return { ...write, fields: { ...write.fields, ...added } };
      return { ...write, fields: { ...write.fields, ...added } };
    });
    return { ...decided, writes };
  }

  /**
   * Returns the records whose passwords are unchanged: records without a clear password, and records whose clear
   * password matches the stored hash.
   */
  async withSamePassword(pairs: readonly (readonly [RecordPlan, StoredDocument])[]): Promise<ReadonlySet<RecordPlan>> {
    const plans = new Set(pairs.map(([plan]) => plan));
    const clear = pairs.filter(([plan]) => hasClearPassword(plan));
    const results = await Promise.all(clear.map(([plan, { passwordHash = '' }]) => this.verify(plan, passwordHash)));
    for (const [index, [plan]] of clear.entries()) if (results[index] === false) plans.delete(plan);
    return plans;
  }

  private async hashOf(plan: RecordPlan): Promise<readonly [string, string]> {
    const { clearPassword = '' } = plan.record;
    const hash = this.hashes.get(plan) ?? hashPassword(clearPassword, this.cost, this.signal);
    this.hashes.set(plan, hash);
    return [documentPath(plan.key), await hash];
  }

  private verify(plan: RecordPlan, hash: string): Promise<boolean> {
    const verification = this.verified.get(plan);
    if (verification?.hash === hash) return verification.result;
    const result = verifyPassword(plan.record.clearPassword ?? '', hash, this.signal);
    this.verified.set(plan, { hash, result });
    return result;
  }
}

function hasClearPassword({ record }: RecordPlan): boolean {
  return record.clearPassword !== undefined;
}
