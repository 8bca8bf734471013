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
  /** The texts that it no longer offers; none where an interrupted call has overwritten it. */
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
    return document === undefined || isOfThisImport(context, document) ? [] : planWithdrawal(plan, document);
  });
}

function planWithdrawal(plan: RecordPlan, stored: StoredDocument): Withdrawal[] {
  const { section, json, orgId } = plan.record;
  const { dependents } = section.overwrite ?? {};
  if (dependents === undefined || !isSameRecord(plan, stored) || !canOverwrite(plan, stored)) return [];
  const kept = new Set(textsAt(json, dependents.offered, orgId));
  const withdrawn = textsAt(parseObject(stored.body), dependents.offered, orgId).filter((text) => !kept.has(text));
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
  for (const group of groupByRange(withdrawals))
    for await (const documents of snapshot.scan({ ...group.range, fields: ['body'] })) {
      for (const [withdrawal, affected] of Map.groupBy(documents, (document) => withdrawalFrom(group, document))) {
        if (withdrawal === undefined) continue;
        const keys = affected.map(({ id }) => ({ collection: group.range.collection, id }));
        withdrawal.count += await narrow(context, withdrawal, keys);
      }
      await yieldToEventLoop();
    }
}

/** Withdrawals from the dependents in one range. */
interface WithdrawalGroup {
  readonly range: Withdrawal['range'];
  /** The dependents' field with the id of a withdrawal. */
  readonly key: Dependents['key'];
  readonly byId: Map<string, Withdrawal>;
}

/** Groups withdrawals, so that the dependents of an organisation are read once, however many there are. */
function groupByRange(withdrawals: readonly Withdrawal[]): Iterable<WithdrawalGroup> {
  const groups = new Map<string, WithdrawalGroup>();
  for (const withdrawal of withdrawals) {
    const { range, dependents, id } = withdrawal;
    const group = groups.get(range.partition) ?? { range, key: dependents.key, byId: new Map() };
    groups.set(range.partition, group);
    group.byId.set(id, withdrawal);
  }
  return groups.values();
}

/** Finds the withdrawal that narrows a dependent. */
function withdrawalFrom({ key, byId }: WithdrawalGroup, { body }: StoredDocument): Withdrawal | undefined {
  const json = parseObject(body);
  const withdrawal = byId.get(textAt(json, key, ''));
  return withdrawal !== undefined && restOf(withdrawal, json) !== undefined ? withdrawal : undefined;
}

/** Narrows some dependents in one commit, and returns their number: others may have changed them meanwhile. */
function narrow({ store }: BatchContext, withdrawal: Withdrawal, keys: readonly DocumentKey[]): Promise<number> {
  return store.transaction(async (transaction) => {
    const current = await transaction.getMany(keys, ['body']);
    const writes = keys.flatMap((key, index): Write[] => {
      const json = parseObject(current[index]?.body);
      const rest = restOf(withdrawal, json);
      if (rest === undefined) return [];
      return [{ type: 'update', key, fields: serialise(withList(json, withdrawal.dependents.used, rest)) }];
    });
    transaction.write(writes);
    return writes.length;
  });
}

/** Returns the texts that a dependent may go on to use; undefined for one that uses no others, or is not the record's. */
function restOf({ dependents, id, kept }: Withdrawal, json: JsonObject): readonly string[] | undefined {
  const used = textsAt(json, `${dependents.used}[]`, '');
  const rest = used.filter((text) => kept.has(text));
  return textAt(json, dependents.key, '') === id && rest.length < used.length ? rest : undefined;
}

/** Replaces a list in a record's canonical JSON, which does not contain empty ones. */
function withList(json: JsonObject, name: string, list: readonly string[]): JsonObject {
  const fields = Object.entries(json).map(([field, value]) => [field, field === name ? list : value] as const);
  return Object.fromEntries(fields.filter(([field]) => field !== name || list.length > 0));
}
