import { describe, expect, it } from 'vitest';
import { toIncoming } from '../../../../functions/import/incomingRecord.ts';
import { checkReferences } from '../../../../functions/import/write/references.ts';
import { ReservedNames } from '../../../../functions/import/write/reservedNames.ts';
import { claimKey } from '../../../../shared/organisation/claimKeys.ts';
import type { RecordPlan } from '../../../../shared/organisation/recordPlan.ts';
import { documentId, documentPath } from '../../../../shared/store/store.ts';
import { MemoryStore } from '../../../support/stores/memoryStore.ts';
import { claimKeys, decide, person, plan, project, storeWith } from './decide.ts';

describe('the decision about a batch', () => {
  const plans = Array.from({ length: 20 }, (_, index) => project(`${index}`, `name ${index}`));
  const keys = plans.flatMap((one) => [one.key, ...claimKeys(one)]);

  it.each(['report', 'skip'] as const)('makes a single read, without bodies (on_conflict %s)', async (onConflict) => {
    const store = await storeWith(...plans);
    await decide(store, plans, onConflict);
    expect(store.reads).toEqual([{ keys, fields: expect.not.arrayContaining(['body']) }]);
  });

  it('makes a read with bodies, and another for the names that overwriting releases', async () => {
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

describe('the check of the references of a batch', () => {
  const check = async (plans: readonly RecordPlan[]) => {
    const store = new MemoryStore();
    const checked = checkReferences(store, plans.map(toIncoming));
    const atNextTurn = new Promise<number>((resolve) => setImmediate(() => resolve(store.reads.length)));
    await checked;
    return { reads: store.reads, atNextTurn: await atNextTurn };
  };
  const keyOf = (index: number) =>
    plan('appKeys', { id: `${index}`, appId: `A${index % 2}`, projectId: 'P', publicKey: 'eA==' });

  it('reads each document once, and bodies only if the check of a reference needs them', async () => {
    const members = [0, 1, 2, 3].map((index) => plan('orgMembers', { userId: `U${index % 2}`, roles: ['ORG_OWNER'] }));
    const { reads } = await check([...members, keyOf(0), keyOf(1), keyOf(2)]);
    const ids = (...names: readonly string[]) => names.map((name) => documentId(name));
    expect(reads.map(({ keys, fields }) => [keys.map(({ id }) => id), fields?.includes('body')])).toEqual([
      [ids('U0', 'U1'), false],
      [ids('A0', 'A1'), true],
    ]);
  });

  it('reads some thousands of documents at a time, and other work runs in between', async () => {
    const triggers = ['a', 'b', 'c'].map((name, index) => {
      const actionIds = Array.from({ length: 1_500 }, (_, number) => `${name}${number}`);
      return plan('triggerActions', { flowType: '1', triggerType: `${index + 1}`, actionIds });
    });
    const { reads, atNextTurn } = await check(triggers);
    expect(reads.map(({ keys }) => keys.length)).toEqual([3_000, 1_500]);
    expect(atNextTurn).toBe(1);
  });

  it('reads nothing for records without references', async () => {
    expect((await check([project('1', 'one')])).reads).toEqual([]);
  });
});

describe('the check of names in domains', () => {
  const domainOf = (orgId: string, domainName: string) => plan('domains', { domainName, isVerified: true }, orgId);
  const claims = (...names: readonly string[]) => names.map((name) => claimKey('domain', [name]));
  const areReserved = async (names: ReservedNames, ...plans: readonly RecordPlan[]) => {
    const records = plans.map(toIncoming);
    await names.check(records);
    return records.map(({ reserved }) => reserved !== undefined);
  };

  it('looks each domain up once in an import, whether an organisation has verified it or not', async () => {
    const store = await storeWith(domainOf('X', 'theirs'));
    const names = new ReservedNames(store);
    store.forget();
    const people = ['anna@free', 'bert@theirs', 'carl@free'].map((name) => person(name, name));
    expect(await areReserved(names, ...people)).toEqual([false, true, false]);
    expect(store.reads).toEqual([{ keys: claims('free', 'theirs'), fields: ['orgId'] }]);
    store.forget();
    const later = ['dora@theirs', 'emil@free', 'fritz@other'].map((name) => person(name, name));
    expect(await areReserved(names, ...later)).toEqual([true, false, false]);
    expect(store.reads.map(({ keys }) => keys)).toEqual([claims('other')]);
  });

  it('reads nothing for names without a domain', async () => {
    const store = new MemoryStore();
    expect(await areReserved(new ReservedNames(store), person('1', 'anna'), project('1', 'one'))).toEqual([
      false,
      false,
    ]);
    expect(store.reads).toEqual([]);
  });

  it('forgets a domain after ten thousand others, and looks it up again', async () => {
    const store = await storeWith(domainOf('X', 'theirs'));
    const names = new ReservedNames(store);
    const anna = person('anna', 'anna@theirs');
    const [reserved] = anna.reserves;
    if (reserved === undefined) throw new Error('the name is in no domain');
    const reserves = claims(...Array.from({ length: 10_000 }, (_, index) => `${index}`)).map((key) => ({
      ...reserved,
      key,
    }));
    for (const one of [anna, { ...anna, reserves }, person('bert', 'bert@free')]) await areReserved(names, one);
    store.forget();
    expect(await areReserved(names, anna)).toEqual([true]);
    expect(store.reads.map(({ keys }) => keys)).toEqual([claims('theirs')]);
  });
});
