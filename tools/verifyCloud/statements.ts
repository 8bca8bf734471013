/** The statements of `docs/operations-google-cloud.md` that nobody has observed: how each ends before its `*`, or its row in Sources. */
export const statements = {
  largerRequest: [
    'a larger one gets 413 from the function, or an error page from Google',
    "a larger request gets Google's error page",
  ],
  streamedResponse: ['the platform sends 10 MB of a streamed response'],
  largeResponse: ['With a `content-length` 32 MB may be possible', 'responses up to 32 MB with a `content-length`'],
  sixtyMinutes: ['the platform cuts a request after 60 minutes'],
  lastHour: ['Firestore reads any moment of the last hour'],
  sevenDays: [
    'and with point-in-time recovery any whole minute of the last seven days',
    'point-in-time recovery for any minute of the last seven days',
  ],
  exhausted: ['Cloud Run returned 429, because all processes were busy'],
  backupErrors: ['A failed change of a backup schedule has such a line', 'log lines of failed changes of schedules'],
  failedBackup: ['Whether a scheduled backup that fails has one is not documented', 'log lines of failed backups'],
  zPaths: ['Cloud Run keeps some paths that end in `z` for itself'],
  writeRamp: ['growing by half every five minutes, as Google recommends'],
  checkedRoutes: ["checked routes in the load balancer's URL map | 100", '100 tests of a URL map'],
  databases: ['100 databases'],
  serviceAccounts: ['100 service accounts'],
  jobWeek: ['half of it as heap, and runs for up to 168 hours'],
  logEntry: ['Cloud Logging takes entries of up to 256 KiB'],
  jobExecution: ['as the role Cloud Run Developer allows'],
  jobAudit: ["who executed them is in Cloud Run's audit log"],
  uptimeChecks: ['100 uptime checks'],
  alertPolicies: ['500 alert policies'],
  filterValues: [
    'values that the filter of an alert can list: not documented',
    'that it takes 75 values is to be settled',
  ],
  certificateTime: [
    'and its certificate is issued, which takes minutes to an hour',
    'the time until a certificate is issued',
  ],
  keyRoles: ["Google's service agents need `roles/cloudkms.cryptoKeyEncrypterDecrypter` on them"],
  keyQuota: ['By default, a project may have no database with a key of its own: request that quota first'],
  uncheckedInvoker: ['Google recommends to disable the check where the policy restricts domains'],
  keptSetting: [
    'Whether a new revision of a function keeps the setting is not documented',
    "that a function's new revision keeps it is to be settled",
  ],
  buildRoles: ["that they suffice with the condition on the sources' bucket"],
  exchangedKeys: ["keys of service accounts: exchanged at Google's token endpoint"],
  indexEntries: ['A record has one index entry, on `partition`; a claim has none', 'index settings'],
  resumption: ['An import whose process ends resumes when it is sent again', 'restart of a process in mid-import'],
} as const;

/** The name of such a statement. */
export type Statement = keyof typeof statements | 'deployment';

const NO_JOB = 'the run has no job: its image is built and pushed by hand';

/** The statements that one run cannot settle, and why. */
export const unsettled: Partial<Record<Statement, string>> = {
  streamedResponse: 'the functions stream no file: they buffer an export, and announce its length',
  lastHour: 'a read of an hour ago needs a database that is older than the run',
  failedBackup: 'Google runs scheduled backups once a day, and none can be made to fail',
  writeRamp: 'it is a recommendation: a rate above it is throttled only under the load of millions of documents',
  checkedRoutes: 'seven instances would be needed to exceed it',
  databases: 'a quota is observed by exceeding it',
  serviceAccounts: 'a quota is observed by exceeding it',
  jobWeek: NO_JOB,
  logEntry: NO_JOB,
  jobExecution: NO_JOB,
  jobAudit: NO_JOB,
  uptimeChecks: 'a quota is observed by exceeding it',
  alertPolicies: 'a quota is observed by exceeding it',
  keyRoles: 'the run uses no key of its own, because a key can never be deleted',
  keyQuota: 'the run uses no key of its own, because a key can never be deleted',
  uncheckedInvoker: 'a recommendation is not observed, and a throwaway project need not belong to an organisation',
};

/** Describes a statement by its words in the document. */
export function describeStatement(name: string): string {
  const [text = 'the configuration applies, and works'] =
    Object.entries(statements).find(([key]) => key === name)?.[1] ?? [];
  return text;
}

/** Lists the statements that a run does not settle, each with the reason. @param tried those that it tries */
export function openStatements(tried: Iterable<Statement>): readonly (readonly [text: string, reason: string])[] {
  const names = new Set<string>(tried);
  const missing = Object.keys(statements).filter((name) => !names.has(name));
  const reasons = new Map(Object.entries(unsettled));
  return missing.map((name) => [
    describeStatement(name),
    reasons.get(name) ?? 'only an option tries it, or it was not reached',
  ]);
}
