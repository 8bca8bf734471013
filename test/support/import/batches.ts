import { Readable } from 'node:stream';
import { CreatedRecords } from '../../../functions/import/check/createdRecords.ts';
import { Pace } from '../../../functions/import/commit/pace.ts';
import type { ImportContext } from '../../../functions/import/context.ts';
import type { RecordConflict } from '../../../functions/import/contract.ts';
import { InspectedRecords } from '../../../functions/import/plan/inspectedRecords.ts';
import { ReservedNames } from '../../../functions/import/read/reservedNames.ts';
import { ImportReport } from '../../../functions/import/results/report.ts';
import { AttemptStamps } from '../../../functions/import/stamp.ts';
import { bcryptCosts } from '../../../shared/bcryptCosts.ts';
import { readRecord } from '../../../shared/organisation/record.ts';
import { createWrites, planRecord, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { nothingStated } from '../../../shared/organisation/statedContent.ts';
import { trialAdvice } from '../../../shared/store/overlay.ts';
import { sectionNamed } from '../fixtures/sectionNamed.ts';
import { MemoryStore } from '../stores/memoryStore.ts';

/** The stamp of an earlier import. */
const EARLIER = '2026-11-20T08:00:00.000000Z';
/** The stamp of the import to which the batch belongs. */
const STAMP = '2026-11-21T10:00:00.000Z';

/** Creates the plan for a record of a section. */
export function plan(section: string, value: object, orgId = 'O'): RecordPlan {
  return planRecord(readRecord(sectionNamed(section), value, orgId), false);
}

/** Creates the plan for a project. */
export function project(projectId: string, name: string): RecordPlan {
  return plan('projects', { projectId, project: { name } });
}

/** Creates the plan for a person. */
export function person(userId: string, userName: string): RecordPlan {
  return plan('humanUsers', { userId, user: { userName } });
}

/** Creates a store in which an earlier import has written records. */
export function storeWith(...plans: readonly RecordPlan[]): Promise<MemoryStore> {
  return MemoryStore.with(plans.flatMap((one) => createWrites(one, EARLIER)));
}

/** A database that fails if a decision reads a range. */
const unread: ImportContext['base'] = {
  snapshot: () => Promise.reject(new Error('decisions read no ranges')),
  durable: () => Promise.reject(new Error('decisions end no import')),
  advice: trialAdvice,
  lock: {
    take: () => Promise.reject(new Error('decisions take no lock')),
    position: () => Promise.reject(new Error('decisions begin no import')),
  },
};

const emptyInspection: ImportContext['inspection'] = {
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

/** Returns the import of a batch. Its file is empty, because tests pass the records. */
export function contextOf(store: MemoryStore, onConflict: RecordConflict, stamp = STAMP): ImportContext {
  return {
    settings: { onConflict },
    source: { open: () => Readable.from([]) },
    inspection: emptyInspection,
    inspected: new InspectedRecords(async () => false),
    store,
    base: unread,
    signal: new AbortController().signal,
    rules: { onConflict, stamp, callerPath: undefined },
    beginning: { position: '', memberRemovals: 0 },
    bcryptCost: bcryptCosts.default,
    removed: new Set(),
    loginNamesByDefault: false,
    state: {
      report: new ImportReport(),
      stamps: new AttemptStamps(stamp),
      pace: new Pace(trialAdvice),
      created: new CreatedRecords(stamp, {}),
      reservedNames: new ReservedNames(),
    },
  };
}
