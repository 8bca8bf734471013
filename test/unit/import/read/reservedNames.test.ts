import { describe, expect, it } from 'vitest';
import {
  createDomainVersion,
  domainVersionWrites,
  ReservedNames,
} from '../../../../functions/import/read/reservedNames.ts';
import { claimKey } from '../../../../shared/organisation/claimKeys.ts';
import type { RecordPlan } from '../../../../shared/organisation/recordPlan.ts';
import type { DocumentKey } from '../../../../shared/store/store.ts';
import { person, plan, project, storeWith } from '../../../support/import/batches.ts';
import { MemoryStore } from '../../../support/stores/memoryStore.ts';

describe('the check of names in domains', () => {
  const domainOf = (orgId: string, domainName: string) => plan('domains', { domainName, isVerified: true }, orgId);
  const claims = (...names: readonly string[]) => names.map((name) => claimKey('domain', [name]));
  const people = (...names: readonly string[]) => names.map((name) => person(name, name));

  /** Returns which of the records use reserved names, the claims that were read, and the other documents. */
  async function check(store: MemoryStore, names: ReservedNames, plans: readonly RecordPlan[]) {
    const reads: DocumentKey[] = [];
    const held: DocumentKey[] = [];
    const found = await names.find(
      {
        getMany: (keys, fields) => {
          reads.push(...keys);
          return store.getMany(keys, fields);
        },
        hold: (keys) => void held.push(...keys),
        write: () => expect.unreachable(),
        record: () => expect.unreachable(),
        changedAfter: () => expect.unreachable(),
      },
      plans,
    );
    const isClaim = ({ collection }: DocumentKey) => collection === 'claims';
    const versions = reads.filter((key) => !isClaim(key));
    expect(versions).toEqual(expect.arrayContaining(held));
    return { reserved: plans.map((one) => found.has(one)), claims: reads.filter(isClaim), held: held.length };
  }

  it('looks each domain up once in an import, whether an organisation has verified it or not', async () => {
    const store = await storeWith(domainOf('X', 'theirs'));
    const names = new ReservedNames();
    expect(await check(store, names, people('anna@free', 'bert@theirs', 'carl@free'))).toEqual({
      reserved: [false, true, false],
      claims: claims('free', 'theirs'),
      held: 1,
    });
    expect(await check(store, names, people('dora@theirs', 'emil@free', 'fritz@other'))).toEqual({
      reserved: [true, false, false],
      claims: claims('other'),
      held: 1,
    });
  });

  it('looks all domains up again after one was verified', async () => {
    const store = await storeWith();
    await createDomainVersion(store);
    await createDomainVersion(store);
    const names = new ReservedNames();
    expect(await check(store, names, people('anna@one', 'bert@two'))).toMatchObject({ reserved: [false, false] });
    const verified = domainOf('X', 'two');
    const settled = [{ plan: verified, outcome: { kind: 'created' as const } }];
    await store.commit([
      { type: 'create', key: claims('two')[0] ?? verified.key, fields: { orgId: 'X' } },
      ...domainVersionWrites(settled),
    ]);
    expect(await check(store, names, people('carl@two', 'dora@three'))).toMatchObject({ reserved: [true, false] });
    expect(await check(store, names, people('emil@two', 'fritz@one'))).toEqual({
      reserved: [true, false],
      claims: claims('one'),
      held: 1,
    });
  });

  it('does not change the version for domains that are not verified or not written', () => {
    const unverified = plan('domains', { domainName: 'theirs' });
    expect(domainVersionWrites([{ plan: unverified, outcome: { kind: 'created' } }])).toEqual([]);
    expect(domainVersionWrites([{ plan: domainOf('X', 'a'), outcome: { kind: 'unchanged' } }])).toEqual([]);
  });

  it('reads nothing for names without a domain', async () => {
    const records = [person('1', 'anna'), project('1', 'one')];
    expect(await check(new MemoryStore(), new ReservedNames(), records)).toEqual({
      reserved: [false, false],
      claims: [],
      held: 0,
    });
  });

  it('keeps the first ten thousand domains, and looks each other one up again', async () => {
    const store = await storeWith(domainOf('X', 'theirs'));
    const names = new ReservedNames();
    await check(store, names, people(...Array.from({ length: 10_000 }, (_, index) => `p@${index}`)));
    for (const _again of [1, 2])
      expect(await check(store, names, people('anna@theirs'))).toMatchObject({
        reserved: [true],
        claims: claims('theirs'),
      });
  });
});
