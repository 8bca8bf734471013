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

const project = (projectId: string) => record('projects', { projectId, project: { name: projectId } });
const all = (ledger: ImportLedger): Promise<LedgerRecord[]> => Array.fromAsync(ledger.records(signal));

async function entered(ledger: ImportLedger, id: string): Promise<LedgerRecord> {
  const one = (await all(ledger)).find((candidate) => candidate.id === id);
  if (one === undefined) throw new Error(`the ledger has no ${id}`);
  return one;
}

afterEach(() => void vi.restoreAllMocks());

describe('the ledger of an import into a ZITADEL', () => {
  it('encrypts all stored parts of a record', () => {
    const run = vi.spyOn(StatementSync.prototype, 'run');
    const ledger = newLedger();
    ledger.add(person('ada', { hashedPassword: { value: '$2a$10$hash' }, otpCode: 'SEED' }));
    const kept: unknown[] = run.mock.calls.flat();
    expect(kept).toContain('ada');
    for (const secret of ['$2a$10$hash', 'SEED', 'Lovelace']) expect(JSON.stringify(kept)).not.toContain(secret);
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
});
