import { type JsonObject, parseObject, textAt, textsAt } from '../../../shared/json/jsonObject.ts';
import { serialise } from '../../../shared/organisation/recordBody.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { Dependents } from '../../../shared/organisation/relations.ts';
import { sectionPartition } from '../../../shared/organisation/section.ts';
import { findSection } from '../../../shared/organisation/sections.ts';
import type { Collection, DocumentKey, StoredDocument, Write } from '../../../shared/store/store.ts';
import { yieldToEventLoop } from '../../../shared/turns.ts';
import { type BatchContext, isOfThisImport } from './batchContext.ts';
import { canOverwrite, comparedFields, isSameRecord } from './comparison.ts';

/** A record whose overwriting withdraws texts from its dependents, such as a project grant with fewer roles. */
export interface Withdrawal {
  readonly plan: RecordPlan;
  readonly dependents: Dependents;
  /** Where they are. */
  readonly range: { readonly collection: Collection; readonly partition: string };
  /** The text by which they name the record. */
  readonly id: string;
  /** The texts that the record keeps to offer. */
  readonly kept: ReadonlySet<string>;
  /** The texts that it no longer offers; none where an earlier call has overwritten it. */
  readonly withdrawn: readonly string[];
  /** The number of dependents from which they were withdrawn. */
  count: number;
}

/** Finds the records of a batch whose overwriting withdraws texts from their dependents. */
export async function findWithdrawals(context: BatchContext, plans: readonly RecordPlan[]): Promise<Withdrawal[]> {
  if (context.onConflict !== 'overwrite') return [];
  const candidates = plans.filter(({ record }) => record.section.overwrite?.dependents !== undefined);
  if (candidates.length === 0) return [];
  const keys = candidates.map(({ key }) => key);
  const stored = await context.store.getMany(keys, [...comparedFields, 'body']);
  return candidates.flatMap((plan, index) => {
    const document = stored[index];
    return document === undefined || isOfThisImport(context, document) ? [] : planWithdrawal(context, plan, document);
  });
}

function planWithdrawal({ mayHaveOverwritten }: BatchContext, plan: RecordPlan, stored: StoredDocument): Withdrawal[] {
  const { section, json, orgId } = plan.record;
  const { dependents } = section.overwrite ?? {};
  if (dependents === undefined || !isSameRecord(plan, stored) || !canOverwrite(plan, stored)) return [];
  const kept = new Set(textsAt(json, dependents.offered, orgId));
  const withdrawn = textsAt(parseObject(stored.body), dependents.offered, orgId).filter((text) => !kept.has(text));
  if (withdrawn.length === 0 && !mayHaveOverwritten) return [];
  const dependentSection = findSection(dependents.section);
  if (dependentSection === undefined) throw new Error(`there is no section ${dependents.section}`);
  const { collection } = dependentSection;
  const partition = sectionPartition(textAt(json, dependents.orgId, orgId), dependentSection);
  const id = textAt(json, section.key[0] ?? '', orgId);
  return [{ plan, dependents, range: { collection, partition }, id, kept, withdrawn, count: 0 }];
}

/** Returns the warning of an overwritten record that withdrew texts. */
export function withdrawalWarning({ dependents, withdrawn, count }: Withdrawal): string {
  return `withdrew ${withdrawn.join(', ')} from ${count} records of ${dependents.section}`;
}

/**
 * Withdraws texts from the dependents that use them. It runs before the records are overwritten, so that an interrupted
 * import finds them as they were and repeats it, and once more afterwards, for dependents that were created meanwhile. An
 * import that was interrupted between the two does so when it is resent.
 */
export async function withdraw(context: BatchContext, withdrawals: readonly Withdrawal[]): Promise<void> {
  if (withdrawals.length === 0) return;
  await using snapshot = await context.base.snapshot();
  for (const { range, withdrawalOf } of groupByRange(withdrawals))
    for await (const documents of snapshot.scan({ ...range, fields: ['body'] })) {
      for (const [withdrawal, affected] of Map.groupBy(documents, withdrawalOf)) {
        if (withdrawal === undefined) continue;
        const keys = affected.map(({ id }) => ({ collection: range.collection, id }));
        withdrawal.count += await narrow(context, withdrawal, keys);
      }
      await yieldToEventLoop();
    }
}

/** Withdrawals from the dependents in one range. */
interface WithdrawalGroup {
  readonly range: Withdrawal['range'];
  /** Finds the withdrawal that narrows a dependent. */
  readonly withdrawalOf: (dependent: StoredDocument) => Withdrawal | undefined;
}

/** Groups withdrawals, so that the dependents of an organisation are read once, however many there are. */
function groupByRange(withdrawals: readonly Withdrawal[]): WithdrawalGroup[] {
  return [...Map.groupBy(withdrawals, ({ range }) => range.partition).values()].flatMap((together) => {
    const byId = new Map(together.map((withdrawal) => [withdrawal.id, withdrawal]));
    return together.slice(0, 1).map(({ range, dependents }) => ({
      range,
      withdrawalOf: (dependent) => {
        const withdrawal = byId.get(textAt(parseObject(dependent.body), dependents.key, ''));
        return withdrawal !== undefined && narrowedBody(withdrawal, dependent) !== undefined ? withdrawal : undefined;
      },
    }));
  });
}

/** Narrows some dependents in one commit, and returns their number: others may have changed them meanwhile. */
function narrow({ store }: BatchContext, withdrawal: Withdrawal, keys: readonly DocumentKey[]): Promise<number> {
  return store.transaction(async (transaction) => {
    const current = await transaction.getMany(keys, ['body']);
    const writes = keys.flatMap((key, index): Write[] => {
      const fields = narrowedBody(withdrawal, current[index]);
      return fields === undefined ? [] : [{ type: 'update', key, fields }];
    });
    transaction.write(writes);
    return writes.length;
  });
}

/** Returns a dependent's new body and digest; undefined if it uses only what the record keeps to offer. */
function narrowedBody({ dependents, id, kept }: Withdrawal, stored: StoredDocument | undefined) {
  if (stored === undefined) return undefined;
  const json = parseObject(stored.body);
  const used = textsAt(json, `${dependents.used}[]`, '');
  const rest = used.filter((text) => kept.has(text));
  const isDependent = textAt(json, dependents.key, '') === id;
  return isDependent && rest.length < used.length ? serialise(withList(json, dependents.used, rest)) : undefined;
}

/** Replaces a list in a record's canonical JSON, which does not contain empty ones. */
function withList(json: JsonObject, name: string, list: readonly string[]): JsonObject {
  const fields = Object.entries(json).map(([field, value]) => [field, field === name ? list : value] as const);
  return Object.fromEntries(fields.filter(([field]) => field !== name || list.length > 0));
}
