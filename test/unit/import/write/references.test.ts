import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type IncomingRecord, toIncoming } from '../../../../functions/import/incomingRecord.ts';
import { checkReferences } from '../../../../functions/import/write/references.ts';
import { ReservedNames } from '../../../../functions/import/write/reservedNames.ts';
import type { RecordWarning } from '../../../../shared/errors/warnings.ts';
import { claimKey } from '../../../../shared/organisation/claimKeys.ts';
import { toRecord } from '../../../../shared/organisation/record.ts';
import { createWrites, planRecord, type RecordPlan } from '../../../../shared/organisation/recordPlan.ts';
import type { RecordIssue, Reference } from '../../../../shared/organisation/relations.ts';
import type { Section } from '../../../../shared/organisation/section.ts';
import { documentId } from '../../../../shared/store/store.ts';
import { MemoryStore } from '../../../support/stores/memoryStore.ts';

const issue = (id: string): RecordIssue => ({ id, key: id, reason: 'value_invalid' });
const error = { type: 'thing', id: ['id'], exists: issue('exists') };

/** Records that others refer to. */
const targets: Section = {
  name: 'projects',
  collection: 'projects',
  phase: 1,
  zitadelStep: 'projects',
  key: ['id'],
  error,
};
const target = (id: string, more: object = {}, orgId = 'O') => planned(targets, { id, ...more }, orgId);

const ownTarget: RecordWarning = { reason: 'grant_to_itself', message: 'own' };
const toTarget: Reference = { collection: 'projects', key: ['target'], missing: issue('missing') };

function planned(section: Section, json: object, orgId = 'O'): RecordPlan {
  return planRecord(toRecord(section, { ...json }, orgId), false);
}

/** A record of the organisation `O` that refers to others. */
function referring(json: object, ...references: readonly Reference[]): RecordPlan {
  return planned(
    { name: 'actions', collection: 'actions', phase: 2, zitadelStep: 'actions', key: ['id'], references, error },
    json,
  );
}

const storeWith = (...plans: readonly RecordPlan[]) =>
  MemoryStore.with(plans.flatMap((one) => createWrites(one, '2026-11-20T08:00:00.000Z')));

/** Checks the references of records. */
async function checked(store: MemoryStore, plans: readonly RecordPlan[]): Promise<IncomingRecord[]> {
  const records = plans.map(toIncoming);
  await checkReferences(store, records);
  return records;
}

/** The issue, without its parameters, or the outcome of each record that must not be written, undefined for the others. */
async function rejections(store: MemoryStore, ...plans: readonly RecordPlan[]) {
  const records = await checked(store, plans);
  return records.map(({ outcome }) => {
    if (outcome?.kind !== 'failed') return outcome?.kind;
    return issue(outcome.issue.id);
  });
}

/** The issue of one record, in a store with `own` of its organisation and `foreign` of another. */
async function objectionTo(plan: RecordPlan) {
  const store = await storeWith(target('own'), target('own 2'), target('foreign', {}, 'X'));
  return (await rejections(store, plan))[0];
}

describe('a reference', () => {
  it.each([
    ['a record of the same organisation', 'own', undefined],
    ['a record of another organisation', 'foreign', undefined],
    ['no record', 'none', issue('missing')],
    ['nothing', undefined, issue('missing')],
  ])('may lead to %s: %s', async (_where, id, expected) => {
    expect(await objectionTo(referring({ target: id }, toTarget))).toEqual(expected);
  });

  it.each([
    ['own', undefined, undefined],
    ['foreign', issue('foreign'), issue('foreign')],
    ['foreign', 'notCarried' as const, 'notCarried'],
    ['own', issue('foreign'), undefined],
    ['own', 'notCarried' as const, undefined],
    ['none', 'notCarried' as const, issue('missing')],
  ])('to the record %s, with %j for those of other organisations, is judged as %j', async (id, ifForeign, expected) => {
    const reference = ifForeign === undefined ? toTarget : { ...toTarget, ifForeign };
    expect(await objectionTo(referring({ target: id }, reference))).toEqual(expected);
  });

  it.each([
    ['own', 'notCarried', [ownTarget]],
    ['foreign', undefined, []],
    ['none', issue('missing'), []],
  ])(
    'to the record %s, with a warning for those of the same organisation, is judged as %j',
    async (id, expected, warned) => {
      const store = await storeWith(target('own'), target('foreign', {}, 'X'));
      const plan = referring({ target: id }, { ...toTarget, ifOwn: ownTarget });
      expect(await rejections(store, plan)).toEqual([expected]);
      expect((await checked(store, [plan])).map(({ warnings }) => warnings)).toEqual([warned]);
    },
  );

  it('may be empty if it is optional, but may not lead to a missing record', async () => {
    const optional: Reference = { ...toTarget, optional: true };
    expect(await objectionTo(referring({}, optional))).toBeUndefined();
    expect(await objectionTo(referring({ target: '' }, optional))).toBeUndefined();
    expect(await objectionTo(referring({ target: 'none' }, optional))).toEqual(issue('missing'));
  });

  it.each([
    [undefined, undefined],
    [[], undefined],
    [['own', 'own 2'], undefined],
    [['own', 'none'], issue('missing')],
    [['foreign', 'own'], issue('foreign')],
    [['none', 'foreign'], issue('missing')],
    [['foreign', 'none'], issue('foreign')],
  ])('of a list is checked for each element: %j is judged as %j', async (list, expected) => {
    const reference: Reference = { ...toTarget, key: ['targets[]'], ifForeign: issue('foreign') };
    expect(await objectionTo(referring({ targets: list }, reference))).toEqual(expected);
  });

  it('is checked in a fixed order, and only the first issue is reported', async () => {
    const other: Reference = { ...toTarget, key: ['other'], missing: issue('other') };
    expect(await objectionTo(referring({ target: 'none', other: 'none' }, toTarget, other))).toEqual(issue('missing'));
    expect(await objectionTo(referring({ target: 'none', other: 'none' }, other, toTarget))).toEqual(issue('other'));
    expect(await objectionTo(referring({ target: 'own', other: 'none' }, toTarget, other))).toEqual(issue('other'));
  });
});

describe('the check of a referenced record', () => {
  const seen: unknown[] = [];
  const looked: Reference = {
    ...toTarget,
    check: (body, record, orgId) => {
      seen.push({ body, record, orgId });
      return body.kind === record.kind ? undefined : issue('unfit');
    },
  };

  it.each([
    ['fits', 'A', undefined],
    ['does not fit', 'B', issue('unfit')],
  ])('receives that record, the referring record and its organisation: it %s', async (_how, kind, expected) => {
    seen.length = 0;
    const store = await storeWith(target('a', { kind: 'A' }, 'X'));
    expect(await rejections(store, referring({ target: 'a', kind }, looked))).toEqual([expected]);
    expect(seen).toEqual([{ body: { id: 'a', kind: 'A' }, record: { target: 'a', kind }, orgId: 'O' }]);
  });

  it('receives a record that another reference, without such a check, leads to', async () => {
    const store = await storeWith(target('a', { kind: 'A' }));
    for (const references of [
      [toTarget, looked],
      [looked, toTarget],
    ])
      expect(await rejections(store, referring({ target: 'a', kind: 'B' }, ...references))).toEqual([issue('unfit')]);
  });

  it('is made after those of its existence and its organisation', async () => {
    seen.length = 0;
    expect(await objectionTo(referring({ target: 'none' }, looked))).toEqual(issue('missing'));
    expect(await objectionTo(referring({ target: 'foreign' }, { ...looked, ifForeign: issue('foreign') }))).toEqual(
      issue('foreign'),
    );
    expect(seen).toEqual([]);
  });
});

describe('the references of a batch', () => {
  const looked: Reference = { ...toTarget, key: ['looked'], check: () => undefined };

  it('are read at once, each document once, and bodies only if a check needs them', async () => {
    const store = await storeWith();
    const plans = Array.from({ length: 30 }, (_, index) =>
      referring({ target: `t${index % 3}`, looked: `l${index % 2}` }, toTarget, looked),
    );
    await checked(store, plans);
    const keys = (...ids: readonly string[]) => ids.map((id) => ({ collection: 'projects', id: documentId(id) }));
    expect(store.reads).toEqual([
      { keys: keys('t0', 't1', 't2'), fields: ['orgId', 'partition'] },
      { keys: keys('l0', 'l1'), fields: ['orgId', 'partition', 'digest', 'state', 'body'] },
    ]);
  });

  it('are read some thousands at a time, and other work runs in between', async () => {
    const many = (id: string) => {
      const keys = Array.from({ length: 1_500 }, (_, index) => `${id}${index}`);
      return referring({ id, targets: keys }, { ...toTarget, key: ['targets[]'] });
    };
    const store = await storeWith();
    const readsAtTurn = new Promise((resolve) => setImmediate(() => resolve(store.reads.length)));
    expect(await rejections(store, ...['a', 'b', 'c'].map(many))).toEqual(Array(3).fill(issue('missing')));
    expect(store.reads.map(({ keys }) => keys.length)).toEqual([3_000, 1_500]);
    expect(await readsAtTurn).toBe(1);
  });

  it('cost no read if there are none', async () => {
    const store = await storeWith(target('own'));
    expect(await rejections(store, target('own'))).toEqual([undefined]);
    expect(store.reads).toEqual([]);
  });

  it('are judged like those of each record alone', async () => {
    const store = await storeWith(
      target('own', { kind: 'A' }),
      target('other', { kind: 'B' }),
      target('foreign', { kind: 'A' }, 'X'),
    );
    const anyReference = fc.record(
      {
        collection: fc.constant('projects' as const),
        key: fc.constantFrom(['target'], ['targets[]']),
        missing: fc.constant(issue('missing')),
        optional: fc.constant(true as const),
        ifForeign: fc.constantFrom('notCarried' as const, issue('foreign')),
        ifOwn: fc.constant(ownTarget),
        check: fc.constant<NonNullable<Reference['check']>>(({ kind }) => (kind === 'A' ? undefined : issue('unfit'))),
      },
      { requiredKeys: ['collection', 'key', 'missing'] },
    );
    const anyId = fc.constantFrom('own', 'other', 'foreign', 'none', '');
    const anyPlan = fc
      .tuple(anyId, fc.array(anyId, { maxLength: 3 }), fc.array(anyReference, { maxLength: 3 }))
      .map(([one, list, references]) => referring({ target: one, targets: list }, ...references));
    await fc.assert(
      fc.asyncProperty(fc.array(anyPlan, { maxLength: 5 }), async (plans) => {
        const together = await checked(store, plans);
        const apart = await Promise.all(plans.map((plan) => checked(store, [plan])));
        expect(together).toEqual(apart.flat());
      }),
    );
  });
});

describe('a reserved name', () => {
  const people: Section = {
    name: 'humanUsers',
    collection: 'users',
    phase: 2,
    zitadelStep: 'people',
    key: ['id'],
    reserved: [{ type: 'domain', suffixOf: 'name', reserved: issue('reserved') }],
    error,
  };
  const domains: Section = {
    name: 'domains',
    collection: 'domains',
    phase: 1,
    zitadelStep: 'policies and domains',
    key: ['$orgId', 'name'],
    unique: [{ type: 'domain', parts: ['name'], taken: issue('taken') }],
    error,
  };
  const person = (name: string) => planned(people, { id: name, name });
  const domain = (name: string, orgId: string) => planned(domains, { name }, orgId);
  const claims = (...names: readonly string[]) => names.map((name) => claimKey('domain', [name]));
  const reservedOf = async (names: ReservedNames, ...plans: readonly RecordPlan[]) => {
    const records = plans.map(toIncoming);
    await names.check(records);
    return records.map(({ reserved }) => reserved);
  };

  it('belongs to another organisation; names of the own one and unclaimed names are free', async () => {
    const store = await storeWith(domain('mine', 'O'), domain('theirs', 'X'));
    const all = ['anna@mine', 'bert@Theirs', 'carl@free', 'dora'].map(person);
    const expected = [undefined, issue('reserved'), undefined, undefined];
    expect(await reservedOf(new ReservedNames(store), ...all)).toEqual(expected);
  });

  it('may be any of the names that a record uses', async () => {
    const [mine, theirs] = ['mine', 'theirs'].map((name) => ({
      key: claimKey('domain', [name]),
      reserved: issue(name),
    }));
    if (mine === undefined || theirs === undefined) throw new Error('two names');
    const store = await storeWith(domain('mine', 'O'), domain('theirs', 'X'));
    const anna = { ...person('anna'), reserves: [mine, theirs] };
    expect(await reservedOf(new ReservedNames(store), anna)).toEqual([issue('theirs')]);
  });

  it('is looked up once in an import, claimed or not', async () => {
    const store = await storeWith(domain('theirs', 'X'));
    const names = new ReservedNames(store);
    await reservedOf(names, person('anna@free'), person('bert@theirs'), person('carl@free'));
    expect(store.reads).toEqual([{ keys: claims('free', 'theirs'), fields: ['orgId'] }]);
    store.forget();
    const later = ['dora@theirs', 'emil@free', 'fritz@other'].map(person);
    expect(await reservedOf(names, ...later)).toEqual([issue('reserved'), undefined, undefined]);
    expect(store.reads.map(({ keys }) => keys)).toEqual([claims('other')]);
  });

  it('costs no read if records use none', async () => {
    const store = await storeWith();
    expect(await reservedOf(new ReservedNames(store), person('anna'), target('own'))).toEqual([undefined, undefined]);
    expect(store.reads).toEqual([]);
  });

  it('is forgotten after ten thousand others, and looked up again', async () => {
    const store = await storeWith(domain('theirs', 'X'));
    const names = new ReservedNames(store);
    const [anna, bert] = [person('anna@theirs'), person('bert@free')];
    const reserves = Array.from({ length: 10_000 }, (_, index) => ({
      key: claimKey('domain', [`${index}.example`]),
      reserved: issue('reserved'),
    }));
    for (const plan of [anna, { ...bert, reserves }, bert]) await reservedOf(names, plan);
    store.forget();
    expect(await reservedOf(names, anna)).toEqual([issue('reserved')]);
    expect(store.reads[0]?.keys).toEqual(claims('theirs'));
  });
});
