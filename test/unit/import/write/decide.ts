import { Readable } from 'node:stream';
import type { OnConflict } from '../../../../functions/import/contract.ts';
import type { Writing } from '../../../../functions/import/importRun.ts';
import { toIncoming } from '../../../../functions/import/incomingRecord.ts';
import { ImportReport } from '../../../../functions/import/results/report.ts';
import { BatchComparison } from '../../../../functions/import/write/comparison.ts';
import { decideBatch } from '../../../../functions/import/write/decision.ts';
import { ReservedNames } from '../../../../functions/import/write/reservedNames.ts';
import { readRecord } from '../../../../shared/organisation/record.ts';
import { createWrites, planRecord, type RecordPlan } from '../../../../shared/organisation/recordPlan.ts';
import { nothingStated } from '../../../../shared/organisation/statedContent.ts';
import { defaultPasswordHashing } from '../../../../shared/passwordHashing.ts';
import type { DocumentKey } from '../../../../shared/store/store.ts';
import { sectionNamed } from '../../../support/fixtures/sectionNamed.ts';
import { MemoryStore } from '../../../support/stores/memoryStore.ts';

/** The stamp of an earlier import. */
const EARLIER = '2026-11-20T08:00:00.000000Z';
/** The stamp of the import to which the batch belongs. */
const STAMP = '2026-11-21T10:00:00.000Z';

const { signal } = new AbortController();

/** Plans a record of a section. */
export function plan(section: string, value: object, orgId = 'O'): RecordPlan {
  return planRecord(readRecord(sectionNamed(section), value, orgId), false);
}

/** Plans a project. */
export function project(projectId: string, name: string): RecordPlan {
  return plan('projects', { projectId, project: { name } });
}

/** Plans a person. */
export function person(userId: string, userName: string): RecordPlan {
  return plan('humanUsers', { userId, user: { userName } });
}

/** Creates a store in which an earlier import has written records. */
export function storeWith(...plans: readonly RecordPlan[]): Promise<MemoryStore> {
  return MemoryStore.with(plans.flatMap((one) => createWrites(one, EARLIER)));
}

/** A base whose decisions open no snapshot. */
const unread: Writing['base'] = {
  snapshot: () => Promise.reject(new Error('decisions read no ranges')),
  lock: { take: () => Promise.reject(new Error('decisions take no lock')) },
};

const emptyInspection: Writing['inspection'] = {
  organisations: [],
  entries: [],
  counts: {},
  nested: {},
  invalid: new Set(),
  leftOut: {},
  unknown: {},
  unknownStates: undefined,
  initialPeople: 0,
  stated: nothingStated,
  proved: false,
  manifest: undefined,
  tally: { counts: {}, digest: '' },
  digest: '',
};

/** The import to which the batch belongs. Its file is empty: tests pass the records. */
export function writingOf(store: MemoryStore, onConflict: OnConflict): Writing {
  return {
    source: { open: () => Readable.from([]) },
    settings: {},
    store,
    base: unread,
    stamp: STAMP,
    signal,
    report: new ImportReport(),
    inspection: emptyInspection,
    onConflict,
    passwordHashing: defaultPasswordHashing,
    callerPath: undefined,
    reservedNames: new ReservedNames(store),
    removed: new Set(),
    since: STAMP,
    pace: {},
    loginNamesByDefault: false,
    attempts: 0,
    expectExisting: false,
  };
}

/** Decides one batch; the store's reads and writes are then the batch's own. */
export async function decide(store: MemoryStore, plans: readonly RecordPlan[], onConflict: OnConflict): Promise<void> {
  store.forget();
  const batch = {
    records: plans.map(toIncoming),
    comparison: new BatchComparison(onConflict, signal),
    attempts: new Map(),
  };
  await decideBatch(writingOf(store, onConflict), batch);
}

/** The keys of the names that a record claims. */
export function claimKeys({ claims }: RecordPlan): DocumentKey[] {
  return claims.map(({ key }) => key);
}
