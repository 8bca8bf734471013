import { z } from 'zod';
import { gcloud } from '../action.ts';
import { finding, notSettled, type Step } from '../step.ts';

const describeDatabase = gcloud('firestore databases describe --database=north --format=json');
const database = z.object({ pointInTimeRecoveryEnablement: z.string(), versionRetentionPeriod: z.string() });
const SEVEN_DAYS = '604800s';

/** Reads how far back Firestore can read. */
export const readRetention: Step = {
  name: 'retention',
  title: 'Read how long Firestore keeps versions',
  settles: ['sevenDays'],
  actions: [describeDatabase],
  isExperiment: true,
  perform: async ({ run }) => {
    const found = database.parse(JSON.parse((await run(describeDatabase)).stdout));
    const observed = `${found.versionRetentionPeriod}, ${found.pointInTimeRecoveryEnablement}`;
    const isOn = found.pointInTimeRecoveryEnablement === 'POINT_IN_TIME_RECOVERY_ENABLED';
    const isWeek = found.versionRetentionPeriod === SEVEN_DAYS;
    return [finding('sevenDays', `${SEVEN_DAYS}, enabled`, observed, isOn && isWeek)];
  },
};

const describeDefault = gcloud('firestore indexes fields describe --database=north --format=json');
const describePartition = gcloud(
  'firestore indexes fields describe partition --collection-group=users --database=north --format=json',
);
const field = z.object({
  indexConfig: z
    .object({ indexes: z.array(z.object({ queryScope: z.string(), state: z.string().optional() })).default([]) })
    .default({ indexes: [] }),
});

/** Reads which fields have indexes. */
export const readIndexes: Step = {
  name: 'indexes',
  title: 'Read the index settings',
  settles: ['indexEntries'],
  actions: [describeDefault, describePartition],
  isExperiment: true,
  perform: async ({ run }) => {
    const [byDefault, partition] = [
      field.parse(JSON.parse((await run(describeDefault)).stdout)).indexConfig.indexes,
      field.parse(JSON.parse((await run(describePartition)).stdout)).indexConfig.indexes,
    ];
    const scopes = partition.map(({ queryScope }) => queryScope);
    const isExpected = byDefault.length === 0 && scopes.length === 1 && scopes[0] === 'COLLECTION';
    const observed = `${byDefault.length} by default, ${scopes.join(' and ') || 'none'} on partition`;
    return [finding('indexEntries', '0 by default, COLLECTION on partition', observed, isExpected)];
  },
};

const MINUTE_MS = 60_000;
const LOG_MINUTES = 10;
const secondSchedule = gcloud('firestore backups schedules create --database=north --recurrence=daily --retention=7d');
// The filter of the alert, but for the severity's position.
const readErrors = gcloud(
  'logging read --freshness=1h --limit=5 --format=json',
  'protoPayload.serviceName="firestore.googleapis.com" AND protoPayload.methodName=~"Backup" AND severity>=ERROR',
);

/** Asks for a second daily schedule, which Firestore rejects, and looks for the line that the alert matches. */
export const provokeBackupError: Step = {
  name: 'backup errors',
  title: 'Ask for a second daily backup schedule, and look for the error in the audit log',
  settles: ['backupErrors'],
  actions: [secondSchedule, readErrors],
  isExperiment: true,
  perform: async ({ attempt, run, clock, signal }) => {
    const expected = 'a line that the alert matches';
    const { code } = await attempt(secondSchedule);
    if (code === 0) return [notSettled('backupErrors', expected, 'a second daily schedule was accepted')];
    for (let minute = 0; minute <= LOG_MINUTES; minute++) {
      const lines = z.array(z.unknown()).parse(JSON.parse((await run(readErrors)).stdout));
      if (lines.length > 0) return [finding('backupErrors', expected, `a line after ${minute} minutes`, true)];
      await clock.sleep(MINUTE_MS, signal);
    }
    return [finding('backupErrors', expected, `no line within ${LOG_MINUTES} minutes`, false)];
  },
};
