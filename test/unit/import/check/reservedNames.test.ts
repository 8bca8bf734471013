import { describe, expect, it } from 'vitest';
import { ReservedNames, reservedIssue } from '../../../../functions/import/check/reservedNames.ts';
import { claimKey } from '../../../../shared/organisation/claimKeys.ts';
import type { RecordPlan } from '../../../../shared/organisation/recordPlan.ts';
import { person, plan, project, storeWith } from '../../../support/import/batches.ts';
import { MemoryStore } from '../../../support/stores/memoryStore.ts';

describe('the check of names in domains', () => {
  const domainOf = (orgId: string, domainName: string) => plan('domains', { domainName, isVerified: true }, orgId);
  const claims = (...names: readonly string[]) => names.map((name) => claimKey('domain', [name]));
  const areReserved = async (names: ReservedNames, ...plans: readonly RecordPlan[]) => {
    const owners = await names.findOwners(plans);
    return plans.map((one) => reservedIssue(one, owners) !== undefined);
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
