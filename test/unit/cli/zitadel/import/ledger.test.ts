import { StatementSync } from 'node:sqlite';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ImportLedger, type LedgerRecord } from '../../../../../cli/zitadel/import/ledger.ts';
import { TemporaryDatabase } from '../../../../../shared/collections/temporaryDatabase.ts';
import { because, zitadelIssue } from '../../../../../shared/errors/recordIssues.ts';
import { recordSection } from '../../../../../shared/organisation/allSections.ts';
import { type OrganisationRecord, readRecord } from '../../../../../shared/organisation/record.ts';
import { taken } from '../../../../../shared/organisation/sections/sharedReferences.ts';

const { signal } = new AbortController();

function newLedger(): ImportLedger {
  const database = new TemporaryDatabase('');
  onTestFinished(() => database[Symbol.dispose]());
  return new ImportLedger(database);
}

function record(section: string, json: object, orgId = 'acme'): OrganisationRecord {
  return readRecord(recordSection(section), structuredClone(json), orgId);
}

function person(userId: string, more: object = {}, beside: object = {}): OrganisationRecord {
  const profile = { firstName: 'Ada', lastName: 'Lovelace' };
  const user = { userName: userId, profile, email: { email: `${userId}@acme.example` }, ...more };
  return record('humanUsers', { userId, user, ...beside });
}

const link = (userId: string) => record('userLinks', { userId, idpId: '51', providedUserId: 'x' });
const project = (projectId: string) => record('projects', { projectId, project: { name: projectId } });
const all = (ledger: ImportLedger): Promise<LedgerRecord[]> => Array.fromAsync(ledger.records(signal));

async function entered(ledger: ImportLedger, id: string): Promise<LedgerRecord> {
  const one = (await all(ledger)).find((candidate) => candidate.id === id);
  if (one === undefined) throw new Error(`the ledger has no ${id}`);
  return one;
}

afterEach(() => void vi.restoreAllMocks());

describe('the ledger of an import into a ZITADEL', () => {
  it.each([
    ['with its secrets', person('ada', { hashedPassword: { value: '$2a$10$hash' }, otpCode: 'SEED' })],
    ['with a clear password', person('ada', { password: 'Secret-1' })],
    ['with a clear password and a hash', person('ada', { password: 'Secret-1', hashedPassword: { value: 'h' } })],
    ['with its state and factor', person('ada', {}, { state: 'USER_STATE_LOCKED', otpEmail: true })],
    [
      'with the usual state',
      record('projects', { projectId: '5', project: { name: 'a' }, state: 'PROJECT_STATE_ACTIVE' }),
    ],
    ['without a state', project('5')],
  ])('returns a record %s as the file has it', async (_what, given) => {
    const ledger = newLedger();
    ledger.add(given);
    const [one] = await all(ledger);
    expect(one?.record).toEqual(given);
  });

  it('encrypts all stored parts of a record', () => {
    const run = vi.spyOn(StatementSync.prototype, 'run');
    const ledger = newLedger();
    ledger.add(person('ada', { hashedPassword: { value: '$2a$10$hash' }, otpCode: 'SEED' }));
    const kept: unknown[] = run.mock.calls.flat();
    expect(kept).toContain('ada');
    for (const secret of ['$2a$10$hash', 'SEED', 'Lovelace']) expect(JSON.stringify(kept)).not.toContain(secret);
  });

  it('yields the unsent records of a step, grouped by organisation', async () => {
    const ledger = newLedger();
    for (const [id, orgId] of [
      ['1', 'b'],
      ['2', 'a'],
      ['3', 'b'],
      ['4', 'a'],
    ] as const)
      ledger.add(record('projects', { projectId: id, project: { name: id } }, orgId));
    ledger.enter(await entered(ledger, '3'), { outcome: 'created' });
    const step = 7;
    expect([...ledger.unsent(step)].map(({ id }) => id)).toEqual(['2', '4', '1']);
    expect([...ledger.unsent(step + 1)]).toEqual([]);
  });

  it('gives records that are nested in a parent record its outcome, and sends none of them alone', async () => {
    const ledger = newLedger();
    const [ada, ben] = [person('ada'), person('ben')];
    for (const holder of [ada, ben]) {
      ledger.add(holder);
      ledger.add(link(String(holder.json.userId)), holder);
    }
    expect(Array.from({ length: 20 }, (_, step) => [...ledger.unsent(step)].map(({ id }) => id)).flat()).toEqual([
      'ada',
      'ben',
    ]);
    ledger.enter(await entered(ledger, 'ben_51'), { outcome: 'notCarried' });
    ledger.enter(await entered(ledger, 'ada'), { outcome: 'failed', issues: [because('email_invalid', {})] });
    ledger.enter(await entered(ledger, 'ben'), { outcome: 'created' });
    expect(ledger.outcomes.failed).toEqual({ humanUsers: 1, userLinks: 1 });
    expect(ledger.outcomes.notCarried).toEqual({ userLinks: 1 });
    expect(ledger.errors.entries).toMatchObject([{ type: 'human_user', id: 'ada', reason: 'email_invalid' }]);
    expect(ledger.progress).toEqual({ records: 3, total: 3 });
  });

  it('lists errors in the order of the file, then those about a part by its type, then those about no record', async () => {
    const ledger = newLedger();
    for (const id of ['1', '2']) ledger.add(project(id));
    ledger.add(person('ada'));
    ledger.addError('9', { type: 'unknown_type', ...zitadelIssue('of no record') });
    const seed = { type: 'human_user_otp', ...because('seed_of_foreign_person', {}) };
    ledger.enter(await entered(ledger, 'ada'), { outcome: 'created', issues: [seed] });
    ledger.enter(await entered(ledger, '1'), { outcome: 'failed', issues: [because('key_invalid', {})] });
    ledger.foresee();
    expect(ledger.errors.entries).toMatchObject([
      { type: 'project', id: '1', reason: 'key_invalid' },
      { type: 'human_user_otp', id: 'ada', reason: 'seed_of_foreign_person' },
      { type: 'unknown_type', id: '9', reason: 'zitadel_refuses', message: 'of no record' },
    ]);
    expect(ledger.outcomes.created).toEqual({ projects: 1, humanUsers: 1 });
    expect(ledger.outcomes.failed).toEqual({ projects: 1, unknown_type: 1 });
    expect((await all(ledger)).map(({ id }) => id)).toEqual(['1', '2', 'ada']);
  });

  it('keeps each error of a record, with its type, reason and parameters', async () => {
    const ledger = newLedger();
    ledger.add(person('ada'));
    const ada = await entered(ledger, 'ada');
    ledger.enter(ada, { outcome: 'failed', issues: [because('content_kept', { fields: ['user.userName', 'state'] })] });
    ledger.addProblem(ada, { type: 'human_user_otp', ...because('seed_of_different_person', {}) });
    ledger.addProblem(ada, because('open_refused', { state: 'USER_STATE_LOCKED', error: '"no"; \'why\' {state}' }));
    expect(ledger.outcomes.failed).toEqual({ humanUsers: 1 });
    expect(ledger.errors.entries).toEqual([
      {
        type: 'human_user',
        id: 'ada',
        reason: 'content_kept',
        params: { fields: 'user.userName, state' },
        message: expect.stringMatching(/^exists with other content, which ZITADEL keeps: user\.userName, state: /),
      },
      {
        type: 'human_user_otp',
        id: 'ada',
        reason: 'seed_of_different_person',
        message: expect.stringMatching(/^the TOTP seed is missing in the target/),
      },
      {
        type: 'human_user',
        id: 'ada',
        reason: 'open_refused',
        params: { state: 'USER_STATE_LOCKED', error: '"no"; \'why\' {state}' },
        message: expect.stringMatching(
          /^open in the target, locked in the source, .*: "no"; 'why' \{state\}: close it/,
        ),
      },
    ]);
  });

  it('withholds what depends on a withheld record, directly or not, with the name of that record', async () => {
    const ledger = newLedger();
    const app = { appId: 'app', app: { projectId: 'shop', name: 'app' } };
    const appKey = { id: 'key', projectId: 'shop', appId: 'app' };
    for (const one of [project('shop'), record('apiApps', app), record('appKeys', appKey), project('5')])
      ledger.add(one);
    const withheld = ledger.withhold(1, because('id_taken', { owner: 'organisation 1', holder: 'a project' }));
    expect(withheld.id).toBe('shop');
    ledger.withholdDependents();
    const depends = { reason: 'dependency_not_imported', params: { target: 'project shop' } };
    expect(ledger.errors.entries).toMatchObject([
      { type: 'project', reason: 'id_taken', params: { owner: 'organisation 1', holder: 'a project' } },
      { type: 'api_app', id: 'app', ...depends },
      { type: 'app_key', id: 'key', ...depends, message: expect.stringMatching(/^depends on project shop, which is/) },
    ]);
    expect(ledger.outcomes.failed).toEqual({ projects: 1, apiApps: 1, appKeys: 1 });
    expect(await entered(ledger, 'app')).toMatchObject({ withheld: 'project shop', issues: [depends] });
  });

  it('forgets all outcomes of a dry run before the import, except those of records that are never sent', async () => {
    const ledger = newLedger();
    const invalid = { ...person('bob'), invalid: taken('Errors.User.AlreadyExists') };
    const locked = person('ada', {}, { state: 'USER_STATE_LOCKED' });
    for (const one of [locked, project('shop'), invalid]) ledger.add(one);
    const facts = async () => ({
      records: await all(ledger),
      errors: ledger.errors.entries,
      outcomes: ledger.outcomes,
      isNameFree: ledger.claimLoginName('ada'),
      toClose: ledger.toClose(['humanUsers'], 'existing').map(({ id }) => id),
    });
    ledger.restart();
    const before = await facts();
    expect(before).toMatchObject({
      errors: [{ id: 'bob' }],
      outcomes: { failed: { humanUsers: 1 } },
      isNameFree: true,
    });
    const ada = await entered(ledger, 'ada');
    ledger.settleClosing(ada);
    ledger.enter(ada, { found: 'equal', foreseen: 'unchanged', outcome: 'unchanged' });
    ledger.withhold(2, because('id_taken', { owner: 'organisation 1', holder: 'a project' }));
    ledger.addElsewhere(2, 'organisation 1');
    ledger.refuse('acme');
    ledger.addError('9', { type: 'unknown_type', ...zitadelIssue('of no record') });
    ledger.foresee();
    expect(await facts()).not.toEqual(before);
    ledger.restart();
    expect(await facts()).toEqual(before);
    expect([ledger.elsewhere.size, ledger.refused.size]).toEqual([0, 0]);
    ledger.enter(ada, { found: 'different', outcome: 'failed' });
    expect(ledger.toClose(['humanUsers'], 'existing').map(({ id }) => id)).toEqual(['ada']);
  });

  it('finds the first of several records with one key', async () => {
    const ledger = newLedger();
    const keys = [undefined, Buffer.from('a'), Buffer.from('b'), Buffer.from('a')];
    for (const [index, key] of keys.entries()) ledger.add(project(String(index)), undefined, key);
    const earlier = (await all(ledger)).map((one) => ledger.earlierWithKey(one));
    expect(earlier).toEqual([undefined, undefined, undefined, '1']);
  });
});
