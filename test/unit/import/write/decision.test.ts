import { describe, expect, it } from 'vitest';
import type { OnConflict } from '../../../../functions/import/contract.ts';
import { type RecordOutcome, repetitionIssue, toIncoming } from '../../../../functions/import/incomingRecord.ts';
import { hashPassword } from '../../../../shared/auth/password.ts';
import { storedFields } from '../../../../shared/organisation/record.ts';
import { createRecord, createWrites, type RecordPlan } from '../../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../../shared/organisation/relations.ts';
import { ownState } from '../../../../shared/organisation/sections/users.ts';
import type { Write } from '../../../../shared/store/store.ts';
import { documentPath } from '../../../../shared/store/store.ts';
import { MemoryStore } from '../../../support/stores/memoryStore.ts';
import {
  claimKeys,
  decide,
  decideIncoming,
  EARLIER,
  everyOnConflict,
  holding,
  person,
  plan,
  project,
  STAMP,
  storeWith,
  writingOf,
} from './decide.ts';

const exists = ({ record }: RecordPlan): RecordOutcome => ({ kind: 'failed', issue: record.section.error.exists });
const twice = ({ record }: RecordPlan): RecordOutcome => ({ kind: 'failed', issue: repetitionIssue(record.section) });
/** The outcome of a record whose name another record of its organisation has. */
const taken = ({ claims }: RecordPlan, holder: string): RecordOutcome[] =>
  claims.map((claim) => ({
    kind: 'failed',
    issue: { ...claim.taken, params: { holder } },
  }));

const app = (section: string) => plan(section, { appId: 'A', app: { projectId: 'P', name: 'app' } });
const inState = (state: object, more: object = {}) =>
  plan('humanUsers', { userId: 'u', user: { userName: 'anna', ...more }, ...state });

/** The write that overwrites a record. */
function overwriting({ key, record }: RecordPlan, sequence = 2): Write {
  const fields = { ...storedFields(record), sequence, changedAt: STAMP };
  return { type: 'update', key, fields };
}

describe('a record that does not exist', () => {
  it.each(everyOnConflict)('is created with its claims (on_conflict %s)', async (onConflict) => {
    const store = await storeWith(project('1', 'one'));
    const plans = [project('2', 'two'), person('u', 'anna')];
    expect(await decide(store, plans, onConflict)).toEqual([{ kind: 'created' }, { kind: 'created' }]);
    const [two, anna] = plans.map((one) => createWrites(one, STAMP));
    expect(store.writes).toEqual([two?.[0], anna?.[0], two?.[1], anna?.[1]]);
  });

  it.each(everyOnConflict)('fails if another record holds its name (on_conflict %s)', async (onConflict) => {
    const store = await storeWith(project('1', 'one'));
    const second = project('2', 'One');
    expect(await decide(store, [second], onConflict)).toEqual(taken(second, '1'));
    expect(store.writes).toEqual([]);
  });

  it('fails if an earlier record of its batch has taken the name, which that record keeps', async () => {
    const store = new MemoryStore();
    const [first, second] = [person('1', 'anna'), person('2', 'anna')];
    expect(await decide(store, [first, second])).toEqual([{ kind: 'created' }, ...taken(second, '1')]);
    expect(store.writes).toEqual(createWrites(first, STAMP));
  });

  it('is created if only a failed record of its batch wanted the name', async () => {
    const store = await storeWith(project('1', 'one'));
    const [failed, created] = [project('1', 'two'), project('2', 'two')];
    expect(await decide(store, [failed, created])).toEqual([exists(failed), { kind: 'created' }]);
    expect(store.writes).toEqual(createWrites(created, STAMP));
  });
});

describe('a record that exists', () => {
  it.each(everyOnConflict)('is unchanged if its content is equal (on_conflict %s)', async (onConflict) => {
    const store = await storeWith(project('1', 'one'), person('u', 'anna', { otpCode: 'ABC' }));
    const plans = [project('1', 'one'), person('u', 'anna', { otpCode: 'ABC' }), person('u', 'anna')];
    expect(await decide(store, plans, onConflict)).toEqual(plans.map(() => ({ kind: 'unchanged' })));
    expect(store.writes).toEqual([]);
  });

  it.each([
    ['another name', person('u', 'bert', { otpCode: 'ABC' })],
    ['another credential', person('u', 'anna', { otpCode: 'XYZ' })],
    ['a further credential', person('u', 'anna', { hashedPassword: { value: '$2a$x' } })],
    ['a factor', plan('humanUsers', { userId: 'u', otpEmail: true, user: { userName: 'anna' } })],
  ])('with %s is reported, skipped or overwritten, as requested by the import', async (_what, other) => {
    const outcomes = { report: exists(other), skip: { kind: 'skipped' }, overwrite: { kind: 'overwritten' } };
    for (const onConflict of everyOnConflict) {
      const store = await storeWith(person('u', 'anna', { otpCode: 'ABC' }));
      expect(await decide(store, [other], onConflict)).toEqual([outcomes[onConflict]]);
      expect(store.writes.length > 0).toBe(onConflict === 'overwrite');
    }
  });

  it.each([
    ['another organisation', project('1', 'one', { orgId: 'X' }), project('1', 'one')],
    ['another organisation, with other content', project('1', 'one', { orgId: 'X' }), project('1', 'two')],
    ['another section, with equal content', app('apiApps'), app('oidcApps')],
    ['another section', plan('machineUsers', { userId: 'u', user: { userName: 'anna' } }), person('u', 'anna')],
  ])('under the same id in %s is always reported', async (_where, stored, other) => {
    for (const onConflict of everyOnConflict) {
      const store = await storeWith(stored);
      expect(await decide(store, [other], onConflict)).toEqual([exists(other)]);
      expect(store.writes).toEqual([]);
    }
  });
});

describe('a record to overwrite', () => {
  it('keeps its creation date, and the credentials and the factor that the file omits', async () => {
    const more = { otpCode: 'ABC', hashedPassword: { value: '$2a$x' } };
    const before = plan('humanUsers', { userId: 'u', otpEmail: true, user: { userName: 'anna', ...more } });
    const after = person('u', 'anna', { otpCode: 'XYZ', profile: { firstName: 'Anna' } });
    const store = await storeWith(before);
    expect(await decide(store, [after], 'overwrite')).toEqual([{ kind: 'overwritten' }]);
    expect(store.contents()[documentPath(after.key)]).toEqual({
      ...createRecord(after, STAMP).fields,
      passwordHash: '$2a$x',
      otpEmail: true,
      sequence: 2,
      createdAt: EARLIER,
    });
  });

  it('keeps a state that the file omits, and a name without writing its claim', async () => {
    const inactive = (name: string) =>
      plan('projects', { projectId: '1', project: { name }, state: 'PROJECT_STATE_INACTIVE' });
    const store = await storeWith(inactive('one'));
    const after = project('1', 'ONE');
    expect(await decide(store, [after], 'overwrite')).toEqual([{ kind: 'overwritten' }]);
    expect(store.writes).toEqual([overwriting(inactive('ONE'))]);
    expect(store.contents()[documentPath(after.key)]?.state).toBe('PROJECT_STATE_INACTIVE');
  });

  it('releases its name and takes another', async () => {
    const [before, after] = [project('1', 'one'), project('1', 'two')];
    const store = await storeWith(before);
    expect(await decide(store, [after], 'overwrite')).toEqual([{ kind: 'overwritten' }]);
    expect(store.writes).toEqual([
      overwriting(after),
      ...claimKeys(before).map((key) => ({ type: 'delete', key })),
      ...claimKeys(after).map((key) => ({ type: 'create', key, fields: holding(after) })),
    ]);
  });

  it('releases a name that it has under the former domain policy', async () => {
    for (const byDomain of [false, true]) {
      const before = person('u', 'anna', {}, { byDomain: !byDomain });
      const after = person('u', 'anna', { profile: { firstName: 'Anna' } }, { byDomain });
      const store = await storeWith(before);
      expect(await decide(store, [after], 'overwrite')).toEqual([{ kind: 'overwritten' }]);
      const claims = Object.keys(store.contents()).filter((name) => name.startsWith('claims/'));
      expect(claims).toEqual(claimKeys(after).map(documentPath));
    }
  });

  it('does not release a name that another record has taken meanwhile', async () => {
    const [anna, heir] = [person('u', 'anna'), person('heir', 'anna')];
    const store = await storeWith(anna);
    await store.commit(claimKeys(anna).map((key) => ({ type: 'update', key, fields: holding(heir) })));
    const after = person('u', 'bert');
    expect(await decide(store, [after], 'overwrite')).toEqual([{ kind: 'overwritten' }]);
    for (const key of claimKeys(anna)) expect(store.contents()[documentPath(key)]).toEqual(holding(heir));
  });

  it('hands its name to a later record of the batch by one write', async () => {
    const [one, two] = [project('1', 'one'), project('2', 'two')];
    const store = await storeWith(one, two);
    const [renamed, heir] = [project('1', 'three'), project('2', 'one')];
    expect(await decide(store, [renamed, heir], 'overwrite')).toEqual([
      { kind: 'overwritten' },
      { kind: 'overwritten' },
    ]);
    expect(store.writes).toEqual([
      overwriting(renamed),
      overwriting(heir),
      ...claimKeys(one).map((key) => ({ type: 'update', key, fields: holding(heir) })),
      ...claimKeys(renamed).map((key) => ({ type: 'create', key, fields: holding(renamed) })),
      ...claimKeys(two).map((key) => ({ type: 'delete', key })),
    ]);
  });

  it('fails if a later record of the batch releases its name, which is free when the record is sent again', async () => {
    const store = await storeWith(project('1', 'one'), project('2', 'two'));
    const [heir, renamed] = [project('1', 'two'), project('2', 'three')];
    expect(await decide(store, [heir, renamed], 'overwrite')).toEqual([...taken(heir, '2'), { kind: 'overwritten' }]);
    expect(await decide(store, [heir], 'overwrite')).toEqual([{ kind: 'overwritten' }]);
  });

  it('fails if it would swap its name with another record of the batch', async () => {
    const store = await storeWith(project('1', 'one'), project('2', 'two'));
    const [one, two] = [project('1', 'two'), project('2', 'one')];
    expect(await decide(store, [one, two], 'overwrite')).toEqual([...taken(one, '2'), ...taken(two, '1')]);
    expect(store.writes).toEqual([]);
  });

  it('fails if another record holds its new name, and keeps the old one', async () => {
    const store = await storeWith(project('1', 'one'), project('2', 'two'));
    const renamed = project('2', 'one');
    expect(await decide(store, [renamed], 'overwrite')).toEqual(taken(renamed, '1'));
    expect(store.writes).toEqual([]);
  });

  it.each([true, false])('fails if its fixed field is %s and would change', async (userLoginMustBeDomain) => {
    const store = await storeWith(plan('domainPolicy', { userLoginMustBeDomain }));
    const other = plan('domainPolicy', { userLoginMustBeDomain: !userLoginMustBeDomain });
    expect(await decide(store, [other], 'overwrite')).toEqual([exists(other)]);
    expect(store.writes).toEqual([]);
  });

  it.each([true, false])('may change other fields than its fixed field, which is %s', async (userLoginMustBeDomain) => {
    const store = await storeWith(plan('domainPolicy', { userLoginMustBeDomain }));
    const other = plan('domainPolicy', { userLoginMustBeDomain, validateOrgDomains: true });
    expect(await decide(store, [other], 'overwrite')).toEqual([{ kind: 'overwritten' }]);
    expect(store.writes).toEqual([overwriting(other)]);
  });
});

describe('a record without a state', () => {
  const locked = inState({ state: 'USER_STATE_LOCKED' });
  const outcomes = { report: exists(locked), skip: { kind: 'skipped' }, overwrite: { kind: 'unchanged' } };

  it.each(everyOnConflict)(
    'differs from a stored one only if it would not keep its state (on_conflict %s)',
    async (onConflict) => {
      const store = await storeWith(locked);
      expect(await decide(store, [inState({})], onConflict)).toEqual([outcomes[onConflict]]);
      expect(store.writes).toEqual([]);
    },
  );

  it('is overwritten in the stored state, in the field and in the body', async () => {
    const store = await storeWith(locked);
    expect(await decide(store, [inState({}, { profile: { firstName: 'A' } })], 'overwrite')).toEqual([
      { kind: 'overwritten' },
    ]);
    const expected = inState({ state: 'USER_STATE_LOCKED' }, { profile: { firstName: 'A' } });
    expect(store.contents()[documentPath(expected.key)]).toMatchObject(storedFields(expected.record));
  });
});

describe("the calling user's record", () => {
  const locking = inState({ state: 'USER_STATE_LOCKED' });
  const decideOwn = async (record: RecordPlan, callerId: string) => {
    const store = await storeWith(inState({ state: 'USER_STATE_ACTIVE' }));
    const callerPath = documentPath(person(callerId, 'caller').key);
    const writing = { ...writingOf(store, 'overwrite'), callerPath };
    return decideIncoming(writing, [toIncoming(record)]);
  };

  const kept = [{ kind: 'failed', issue: ownState }];

  it('cannot change the state of the caller', async () => {
    expect(await decideOwn(locking, 'u')).toEqual(kept);
    expect(await decideOwn(inState({ state: 'USER_STATE_INITIAL' }), 'u')).toEqual(kept);
    expect(await decideOwn(locking, 'other')).toMatchObject([{ kind: 'overwritten' }]);
  });
});

describe('a record with a reserved name', () => {
  const issue: RecordIssue = { id: 'reserved', key: 'Errors.User.DomainNotAllowedAsUsername' };
  const decideReserved = async (before: RecordPlan | undefined, after: RecordPlan, onConflict: OnConflict) => {
    const store = await storeWith(...(before === undefined ? [] : [before]));
    const [outcome] = await decideIncoming(writingOf(store, onConflict), [{ ...toIncoming(after), reserved: issue }]);
    return outcome;
  };
  const ceo = person('u', 'ceo@acme.com');

  it('is neither created nor renamed to it', async () => {
    for (const onConflict of everyOnConflict)
      expect(await decideReserved(undefined, ceo, onConflict)).toEqual({ kind: 'failed', issue });
    expect(await decideReserved(person('u', 'anna'), ceo, 'overwrite')).toEqual({ kind: 'failed', issue });
    expect(await decideReserved(person('u', 'anna@acme.com'), ceo, 'overwrite')).toEqual({ kind: 'failed', issue });
  });

  it('is overwritten if it has the name already, and unchanged if nothing is overwritten', async () => {
    const before = person('u', 'Ceo@acme.com', { profile: { firstName: 'A' } });
    expect(await decideReserved(before, ceo, 'overwrite')).toEqual({ kind: 'overwritten' });
    expect(await decideReserved(ceo, ceo, 'overwrite')).toEqual({ kind: 'unchanged' });
    expect(await decideReserved(person('u', 'anna'), ceo, 'skip')).toEqual({ kind: 'skipped' });
    expect(await decideReserved(person('u', 'anna'), ceo, 'report')).toEqual(exists(ceo));
  });
});

describe('a duplicate key in a file', () => {
  it.each([
    ['equal content', 'one'],
    ['other content', 'two'],
  ])('in one batch is created once and then reported, with %s', async (_how, name) => {
    for (const onConflict of everyOnConflict) {
      const store = new MemoryStore();
      const [first, second] = [project('1', 'one'), project('1', name)];
      expect(await decide(store, [first, second], onConflict)).toEqual([{ kind: 'created' }, twice(second)]);
      expect(store.writes).toEqual(createWrites(first, STAMP));
    }
  });

  it('in one batch is overwritten once and then reported', async () => {
    const store = await storeWith(project('1', 'zero'));
    const plans = [project('1', 'one'), project('1', 'one'), project('1', 'two')];
    expect(await decide(store, plans, 'overwrite')).toEqual([{ kind: 'overwritten' }, ...plans.slice(1).map(twice)]);
    expect(store.contents()[documentPath(project('1', 'one').key)]?.sequence).toBe(2);
  });

  it('is unchanged both times if the record exists', async () => {
    const store = await storeWith(project('1', 'one'));
    const plans = [project('1', 'one'), project('1', 'one')];
    expect(await decide(store, plans)).toEqual([{ kind: 'unchanged' }, { kind: 'unchanged' }]);
  });

  it('in two batches of one import is reported by the second, whether it is created or overwritten', async () => {
    const again = [project('1', 'one'), project('1', 'two')];
    for (const stored of [[], [project('1', 'zero')]]) {
      const store = await storeWith(...stored);
      await decide(store, [project('1', 'one')], 'overwrite');
      for (const onConflict of everyOnConflict)
        expect(await decide(store, again, onConflict, STAMP.replace('000Z', '001Z'))).toEqual(again.map(twice));
      expect(store.writes).toEqual([]);
    }
  });
});

describe('a batch whose earlier attempt was committed', () => {
  it('has the same outcomes without a second write', async () => {
    const store = await storeWith(project('2', 'zero'), project('3', 'three'));
    const batch = [project('1', 'one'), project('2', 'two'), project('3', 'three'), project('1', 'one')];
    const outcomes = await decide(store, batch, 'overwrite');
    expect(outcomes.map(({ kind }) => kind)).toEqual(['created', 'overwritten', 'unchanged', 'failed']);
    expect(await decide(store, batch, 'overwrite')).toEqual(outcomes);
    expect(store.writes).toEqual([]);
  });

  it('does not treat another record of the same key as the one that it wrote', async () => {
    const store = await storeWith(project('2', 'two'));
    const [failed, created] = [project('1', 'two'), project('1', 'one')];
    expect(await decide(store, [failed, created])).toEqual([...taken(failed, '2'), { kind: 'created' }]);
    expect(await decide(store, [failed, created])).toEqual([twice(failed), { kind: 'created' }]);
    expect(store.writes).toEqual([]);
  });

  it('recognises only its own stamp', async () => {
    const store = await storeWith(project('1', 'one'));
    expect(await decide(store, [project('1', 'one')], 'report', EARLIER)).toEqual([{ kind: 'created' }]);
    expect(await decide(store, [project('1', 'one')], 'report', STAMP)).toEqual([{ kind: 'unchanged' }]);
  });
});

describe('a clear password', async () => {
  const withPassword = (password: string) => person('u', 'anna', { password });
  const passwordHash = await hashPassword('Secret1!');
  const hashed = (one: RecordPlan): RecordPlan => ({
    ...one,
    record: { ...one.record, credentials: { passwordHash } },
  });

  it.each([
    ['Secret1!', 'unchanged'],
    ['Other12!', 'failed'],
  ])('%s is compared with the stored hash: %s', async (password, kind) => {
    const store = await storeWith(hashed(withPassword('Secret1!')));
    const [outcome] = await decide(store, [withPassword(password)]);
    expect(outcome?.kind).toBe(kind);
  });

  it.each([
    ['created', []],
    ['overwritten', [person('u', 'bert')]],
  ])('is stored as its hash: %s', async (kind, stored) => {
    const store = await storeWith(...stored);
    const anna = withPassword('Secret1!');
    const incoming = { ...toIncoming(anna), passwordHash };
    expect(await decideIncoming(writingOf(store, 'overwrite'), [incoming])).toEqual([{ kind }]);
    expect(store.contents()[documentPath(anna.key)]?.passwordHash).toBe(passwordHash);
    expect(JSON.stringify(store.contents())).not.toContain('Secret1!');
  });
});

describe('the reads of a batch', () => {
  const plans = Array.from({ length: 20 }, (_, index) => project(`${index}`, `name ${index}`));
  const keys = plans.flatMap((one) => [one.key, ...claimKeys(one)]);

  it.each(['report', 'skip'] as const)('are a single one, without bodies (on_conflict %s)', async (onConflict) => {
    const store = await storeWith(...plans);
    await decide(store, plans, onConflict);
    expect(store.reads).toEqual([{ keys, fields: expect.not.arrayContaining(['body']) }]);
  });

  it('are one with bodies, and one for the names that overwriting releases', async () => {
    const store = await storeWith(...plans);
    await decide(store, plans, 'overwrite');
    expect(store.reads).toEqual([{ keys, fields: expect.arrayContaining(['body', 'sequence']) }]);
    const [renamed, former] = [project('1', 'other'), project('1', 'name 1')];
    await decide(store, [renamed], 'overwrite');
    expect(store.reads.map((read) => read.keys.map(documentPath))).toEqual([
      [renamed.key, ...claimKeys(renamed)].map(documentPath),
      claimKeys(former).map(documentPath),
    ]);
  });
});
