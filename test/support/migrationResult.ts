import type { MigrationResult } from '../../cli/migrate/migrationTypes.ts';

const START = Date.parse('2026-11-22T20:00:00.000Z');
const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString();

type Organisation = MigrationResult['organisations'][number];

/** Returns the organisations of a result. Each is smaller than the previous. */
export function resultOrganisations(count: number): Organisation[] {
  return Array.from({ length: count }, (_, index) => {
    const records = Math.max(2, 4_000 - index * 37);
    const none = { different: 0, differentAsExpected: 0, onlyTarget: 0 };
    const after = { ...none, absent: 0, equal: records };
    const before = { ...none, absent: records, equal: 0 };
    return {
      orgId: `33000000000000${index}`,
      name: `Organisation ${index}`,
      people: records - 1,
      records,
      before,
      after,
    };
  });
}

/** Returns the result of a migration from ZITADEL, with an entry in every part of its report. */
export function migrationResult(given: Partial<MigrationResult> = {}): MigrationResult {
  const exported = {
    org: 12,
    humanUsers: 24_000,
    machineUsers: 18,
    projects: 30,
    projectRoles: 120,
    userGrants: 9_000,
  };
  const noDifference = { different: 0, differentAsExpected: 0, onlySource: 0, onlyTarget: 0 };
  const phase = { records: 33_180, unchanged: 0, seconds: 60, perSecond: 553, succeeded: true };
  return {
    outcome: 'listed',
    command: '1.0.0',
    startedAt: at(0),
    finishedAt: at(152),
    source: { place: 'https://zitadel.example.com', kind: 'zitadel', instance: 'ZITADEL' },
    target: { place: 'https://id.example.com', kind: 'instance', version: '1.0.0' },
    options: { orgIds: [], excludedOrgIds: [], secrets: ['passwords', 'otp'], onConflict: 'report', accepted: [] },
    leftOut: [{ orgId: '400000000000000001', reason: 'the default organisation of the source' }],
    organisations: resultOrganisations(12),
    moved: {
      organisations: 12,
      records: 33_180,
      exported,
      imported: {
        created: { ...exported, humanUsers: 23_998 },
        unchanged: { humanUsers: 1 },
        overwritten: {},
        skipped: {},
        failed: { humanUsers: 1 },
        notCarried: { machineKeys: 4 },
        unconfirmed: {},
      },
    },
    phases: [
      { phase: 'exporting', startedAt: at(2), ...phase },
      { phase: 'importing', startedAt: at(62), ...phase, seconds: 20, records: 11_000, succeeded: false },
      { phase: 'importing', startedAt: at(85), ...phase },
    ],
    errors: [
      {
        type: 'human_user',
        id: '330000000000000201',
        reason: 'record_exists',
        message: 'ID=COMMAND-ziuna Message=Errors.User.AlreadyExisting',
      },
    ],
    errorsOmitted: 0,
    warnings: [
      { type: 'org', message: 'the file has no manifest: the completeness of the file cannot be verified' },
      { type: 'secrets', message: 'the passwords are not in the file' },
    ],
    warningsOmitted: 3,
    leftToDo: [
      {
        type: 'machine_user',
        reason: 'tokens_not_exported',
        message: 'no export contains personal access tokens: create the tokens again in the target',
      },
    ],
    leftToDoOmitted: 0,
    people: [
      {
        id: '330000000000000201',
        orgId: '330000000000000',
        userName: 'ada',
        name: 'Ada Lovelace',
        address: 'ada@example.com',
        reasons: ['exists with other content'],
      },
    ],
    proof: {
      method: 'fields',
      provedAt: at(150),
      description: 'both sides were exported and compared, record by record and field by field',
      sections: {
        org: { ...noDifference, equal: 12 },
        humanUsers: { equal: 23_990, different: 8, differentAsExpected: 1, onlySource: 1, onlyTarget: 2 },
        userGrants: { ...noDifference, equal: 9_000 },
      },
      expected: 2,
      unexpected: 10,
      others: [{ orgId: '330000000000099', name: 'Tenant' }],
      differencesOmitted: 10,
      differences: [
        {
          outcome: 'different',
          section: 'humanUsers',
          orgId: '330000000000000',
          id: '330000000000000201',
          name: 'ada',
          orgName: 'Organisation 0',
          fields: [
            { path: 'user.userName', source: '"ada"', target: '"countess"' },
            { path: 'user.hashedPassword.value', secret: 'differs' },
          ],
        },
        {
          outcome: 'onlyTarget',
          section: 'domains',
          orgId: '330000000000000',
          id: '7',
          fields: [],
          reason: 'ZITADEL adds a domain to each organisation',
        },
      ],
      sourceUnchanged: true,
    },
    credentials: {
      people: 24_000,
      withPassword: 23_500,
      kept: 23_498,
      secondFactors: 'all',
      others: [{ reason: 'locked in the target, active in the source', count: 2, names: ['bob', 'eve'] }],
    },
    byHand: [{ what: 'delete /north.pat', command: 'rm /north.pat' }],
    takeBack: [
      {
        what: '330000000000000 (Organisation 0) existed when this run began: delete it only if an earlier, interrupted run created it',
      },
    ],
    ...given,
  };
}
