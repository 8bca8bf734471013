import { setTimeout } from 'node:timers/promises';
import { CHECK_INTERVAL_MILLISECONDS, FORMAT, instanceBody, instanceKey, isOutdated } from './format.ts';
import type { MigrationStep } from './migrations/migration.ts';
import { migrateDocuments, runBatches } from './migrations/pass.ts';
import {
  newUpgradeRecord,
  readUpgradeRecord,
  type UpgradeRecord,
  upgradeRecordWrite,
  withSharedNames,
} from './migrations/upgradeRecord.ts';
import { migrationSteps } from './migrations.ts';
import type { Store } from './store.ts';

/** A process relies on the format for a minute, and may finish a commit that it has begun by then. */
const FENCE_MILLISECONDS = CHECK_INTERVAL_MILLISECONDS + 15_000;
const SAVE_INTERVAL_MILLISECONDS = 1_000;

/** The options of an upgrade. */
export interface UpgradeOptions {
  readonly signal: AbortSignal;
  /** Is told what the upgrade does next. */
  readonly onStep: (name: string) => void;
  /** The milliseconds after which every process of an older version has noticed the format. */
  readonly fenceMs?: number;
}

/**
 * Migrates the documents of an older database to the present format in many commits. Begins by storing the format, which
 * locks processes of older versions out; those of this version know the older form as well until the upgrade has
 * finished. Saves its progress, so that it continues when it is repeated. No name is free at any moment.
 * @returns the record of the last upgrade; undefined for a database that was created in its format
 * @throws the signal's reason
 */
export async function upgrade(store: Store, options: UpgradeOptions): Promise<UpgradeRecord | undefined> {
  const { isUnfinished, record } = await begin(store);
  if (record === undefined || !isUnfinished) return record;
  return finish(store, await runSteps(store, await fence(store, record, options), options));
}

interface Begun {
  readonly isUnfinished: boolean;
  readonly record: UpgradeRecord | undefined;
}

/** Stores the format, and where the upgrade began. */
function begin(store: Store): Promise<Begun> {
  return store.transaction(async (transaction) => {
    const [instance] = await transaction.getMany([instanceKey], ['body']);
    const stored = await readUpgradeRecord(transaction);
    const body = instance === undefined ? undefined : instanceBody.parse(JSON.parse(instance.body ?? '{}'));
    if (body === undefined || !isOutdated(body)) return { isUnfinished: false, record: stored };
    const isUnfinished = body.migratedFrom !== undefined;
    if (isUnfinished && body.format === FORMAT && stored !== undefined) return { isUnfinished, record: stored };
    const from = body.migratedFrom ?? body.format;
    const record: UpgradeRecord =
      isUnfinished && stored !== undefined
        ? { ...stored, to: FORMAT, isFenced: false }
        : newUpgradeRecord(from, FORMAT);
    const changed = { ...body, format: FORMAT, migratedFrom: from };
    transaction.write([
      { type: 'update', key: instanceKey, fields: { body: JSON.stringify(changed) } },
      upgradeRecordWrite(record, stored !== undefined),
    ]);
    return { isUnfinished: true, record };
  });
}

/** Waits until processes of older versions have noticed the format, and write no more. */
async function fence(store: Store, record: UpgradeRecord, options: UpgradeOptions): Promise<UpgradeRecord> {
  if (record.isFenced) return record;
  const { fenceMs = FENCE_MILLISECONDS, signal, onStep } = options;
  onStep(`waiting ${Math.ceil(fenceMs / 1_000)} seconds, until processes of older versions reject requests`);
  await setTimeout(fenceMs, undefined, { signal });
  return save(store, { ...record, isFenced: true });
}

async function runSteps(store: Store, record: UpgradeRecord, options: UpgradeOptions): Promise<UpgradeRecord> {
  const steps = migrationSteps(record.from);
  const unfinished = steps.findIndex(({ name }) => name === record.step);
  let current = record;
  for (const step of steps.slice(Math.max(unfinished, 0))) {
    options.onStep(step.name);
    const { after: _, ...rest } = current;
    current = await runStep(store, step, step.name === current.step ? current : { ...rest, step: step.name }, options);
  }
  return current;
}

/** Migrates the rest of a collection, and saves the progress about once a second. */
async function runStep(
  store: Store,
  step: MigrationStep,
  record: UpgradeRecord,
  options: UpgradeOptions,
): Promise<UpgradeRecord> {
  let current = record;
  let savedAt = performance.now();
  for (;;) {
    const { collection } = step;
    const { after, isComplete } = await runBatches(store, { collection }, current.after, async (documents) => {
      if (options.signal.aborted) await save(store, current);
      options.signal.throwIfAborted();
      const found = await migrateDocuments(store, step, documents);
      current = { ...withSharedNames(current, found), after: documents.at(-1)?.id };
      if (found.length === 0 && performance.now() - savedAt < SAVE_INTERVAL_MILLISECONDS) return;
      current = await save(store, current);
      savedAt = performance.now();
    });
    current = { ...current, after };
    if (isComplete) return save(store, current);
  }
}

/** Saves the progress, unless another call of the command has finished the upgrade. */
function save(store: Store, record: UpgradeRecord): Promise<UpgradeRecord> {
  return store.transaction(async (transaction) => {
    const stored = await readUpgradeRecord(transaction);
    if (stored?.isFinished === false) transaction.write([upgradeRecordWrite(record, true)]);
    return record;
  });
}

/** Ends the upgrade: from now on no document of an older form is looked for. */
function finish(store: Store, { step: _step, after: _after, ...record }: UpgradeRecord): Promise<UpgradeRecord> {
  const result = { ...record, isFinished: true };
  return store.transaction(async (transaction) => {
    const [instance] = await transaction.getMany([instanceKey], ['body']);
    const stored = await readUpgradeRecord(transaction);
    if (stored?.isFinished !== false) return stored ?? result;
    const { migratedFrom: _, ...body } = instanceBody.parse(JSON.parse(instance?.body ?? '{}'));
    transaction.write([
      { type: 'update', key: instanceKey, fields: { body: JSON.stringify(body) } },
      upgradeRecordWrite(result, true),
    ]);
    return result;
  });
}
