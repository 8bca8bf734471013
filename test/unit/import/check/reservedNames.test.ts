import { describe, expect, it } from 'vitest';
import { checkBatch } from '../../../../functions/import/check/checkBatch.ts';
import { ReservedNames } from '../../../../functions/import/check/reservedNames.ts';
import { claimKey } from '../../../../shared/organisation/claimKeys.ts';
import type { RecordPlan } from '../../../../shared/organisation/recordPlan.ts';
import { contextOf, person, plan, project, storeWith } from '../../../support/import/batches.ts';
import { MemoryStore } from '../../../support/stores/memoryStore.ts';

describe('the check of names in domains', () => {
  const domainOf = (orgId: string, domainName: string) => plan('domains', { domainName, isVerified: true }, orgId);
  const claims = (...names: readonly string[]) => names.map((name) => claimKey('domain', [name]));
  const areReserved = async (store: MemoryStore, reservedNames: ReservedNames, ...plans: readonly RecordPlan[]) => {
    store.forget();
    const batch = await checkBatch({ ...contextOf(store, 'report'), reservedNames }, plans);
    return batch.map((record) => 'reserved' in record && record.reserved !== undefined);
  };

  it('looks each domain up once in an import, whether an organisation has verified it or not', async () => {
    const store = await storeWith(domainOf('X', 'theirs'));
    const names = new ReservedNames();
    const people = ['anna@free', 'bert@theirs', 'carl@free'].map((name) => person(name, name));
    expect(await areReserved(store, names, ...people)).toEqual([false, true, false]);
    expect(store.reads.map(({ keys }) => keys)).toEqual([claims('free', 'theirs')]);
    const later = ['dora@theirs', 'emil@free', 'fritz@other'].map((name) => person(name, name));
    expect(await areReserved(store, names, ...later)).toEqual([true, false, false]);
    expect(store.reads.map(({ keys }) => keys)).toEqual([claims('other')]);
  });

  it('reads nothing for names without a domain', async () => {
    const store = new MemoryStore();
    const records = [person('1', 'anna'), project('1', 'one')];
    expect(await areReserved(store, new ReservedNames(), ...records)).toEqual([false, false]);
    expect(store.reads).toEqual([]);
  });

  it('keeps the first ten thousand domains, and looks each other one up again', async () => {
    const store = await storeWith(domainOf('X', 'theirs'));
    const names = new ReservedNames();
    const many = claims(...Array.from({ length: 10_000 }, (_, index) => `${index}`));
    names.learn(many, new Map());
    const anna = person('anna', 'anna@theirs');
    for (const _again of [1, 2]) {
      expect(await areReserved(store, names, anna)).toEqual([true]);
      expect(store.reads.map(({ keys }) => keys)).toEqual([claims('theirs')]);
    }
  });
});
