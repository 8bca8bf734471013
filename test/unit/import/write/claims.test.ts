import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClaimLedger } from '../../../../functions/import/write/claims.ts';
import type { RecordPlan } from '../../../../shared/organisation/recordPlan.ts';
import { type DocumentKey, documentPath, type StoredDocument } from '../../../../shared/store/store.ts';
import { claimKeys, holding, person } from './decide.ts';

/** The stored claims of people. */
function claimsOf(...people: readonly RecordPlan[]): Map<string, StoredDocument> {
  return new Map(
    people.flatMap((one) => claimKeys(one).map((key) => [documentPath(key), { id: key.id, ...holding(one) }])),
  );
}

/** A record that claims names, and those that it may hold. */
interface Claimant {
  readonly plan: RecordPlan;
  readonly held: readonly DocumentKey[];
}

/** A person who has one name, if any, and wants another. */
function renamed(userId: string, from: string | undefined, to: string): Claimant {
  return { plan: person(userId, to), held: from === undefined ? [] : claimKeys(person(userId, from)) };
}

/** Claims names one after the other, and returns the ids of the people who get theirs. */
function assigned(ledger: ClaimLedger, claimants: readonly Claimant[]): string[] {
  return claimants
    .filter(({ plan, held }) => ledger.claim(plan, held) === undefined)
    .map(({ plan }) => String(plan.record.json.userId));
}

describe('the name claims of a transaction', () => {
  it('are free, or belong to their stored owner', () => {
    const ledger = () => new ClaimLedger(claimsOf(person('A', 'anna')));
    expect(assigned(ledger(), [renamed('A', 'anna', 'ANNA')])).toEqual(['A']);
    expect(assigned(ledger(), [renamed('B', undefined, 'anna')])).toEqual([]);
    expect(assigned(ledger(), [renamed('B', undefined, 'bert')])).toEqual(['B']);
  });

  it('are created, changed and deleted by one write each', () => {
    const [anna, bert] = [person('A', 'anna'), person('B', 'bert')];
    const ledger = new ClaimLedger(claimsOf(anna, bert));
    const [toCarl, toAnna] = [renamed('A', 'anna', 'carl'), renamed('B', 'bert', 'anna')];
    expect(assigned(ledger, [toCarl, toAnna])).toEqual(['A', 'B']);
    expect(new Set(ledger.writes())).toEqual(
      new Set([
        ...claimKeys(anna).map((key) => ({ type: 'update', key, fields: holding(toAnna.plan) })),
        ...claimKeys(bert).map((key) => ({ type: 'delete', key })),
        ...claimKeys(toCarl.plan).map((key) => ({ type: 'create', key, fields: holding(toCarl.plan) })),
      ]),
    );
  });

  it('are not written if they end unchanged', () => {
    const ledger = new ClaimLedger(claimsOf(person('A', 'anna')));
    expect(assigned(ledger, [renamed('A', 'anna', 'Anna')])).toEqual(['A']);
    expect(ledger.writes()).toEqual([]);
  });

  it('are not released by a record that does not hold them', () => {
    const [keeper, other] = [person('A', 'anna'), renamed('B', 'anna', 'bert')];
    const ledger = new ClaimLedger(claimsOf(keeper));
    expect(assigned(ledger, [other, renamed('A', 'anna', 'anna'), renamed('C', undefined, 'anna')])).toEqual([
      'B',
      'A',
    ]);
    expect(ledger.writes().map(({ key }) => key)).toEqual(claimKeys(other.plan));
  });

  it('go to the first record that wants them, and to the second if the first gets none', () => {
    expect(assigned(new ClaimLedger(new Map()), [renamed('A', undefined, 'x'), renamed('B', undefined, 'x')])).toEqual([
      'A',
    ]);
    const [x, y] = [person('A', 'x'), person('A', 'y')];
    const both = { plan: { ...x, claims: [...x.claims, ...y.claims] }, held: [] };
    const ledger = new ClaimLedger(claimsOf(person('Y', 'y')));
    expect(assigned(ledger, [both, renamed('B', undefined, 'x')])).toEqual(['B']);
  });

  it.each([
    ['a chain from a free name', ['new', 'a', 'b'], ['0', '1', '2']],
    ['a chain to a free name', ['b', 'c', 'new'], ['2']],
    ['a swap', ['b', 'a', 'c'], ['2']],
    ['a chain from a name outside the batch', ['outside', 'a', 'b'], []],
  ])('are assigned in the order of the records: %s', (_which, wanted, expected) => {
    const before = ['a', 'b', 'c'];
    const stored = claimsOf(person('x', 'outside'), ...before.map((name, index) => person(`${index}`, name)));
    const claimants = wanted.map((name, index) => renamed(`${index}`, before[index], name));
    expect(assigned(new ClaimLedger(stored), claimants)).toEqual(expected);
  });

  it('name the holder of a taken name, and its organisation if that differs', () => {
    const paramsFor = (holder: RecordPlan) => new ClaimLedger(claimsOf(holder)).claim(person('B', 'anna'), [])?.params;
    expect(paramsFor(person('A', 'anna'))).toEqual({ holder: 'A' });
    expect(paramsFor(person('A', 'anna', {}, { orgId: 'X' }))).toEqual({ holder: 'A', organisation: 'X' });
  });

  it('never have two holders or lose their holder, for any requests', () => {
    const anyNames = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(anyNames, fc.integer({ min: 0, max: 6 }), (wanted, present) => {
        const before = ['a', 'b', 'c', 'd', 'e', 'f'].slice(0, present);
        const ledger = new ClaimLedger(claimsOf(...before.map((name, index) => person(`${index}`, name))));
        const claimants = wanted.map((name, index) => renamed(`${index}`, before[index], name));
        const successful = new Set(assigned(ledger, claimants));
        const after = wanted.map((name, index) => (successful.has(`${index}`) ? name : before[index]));
        const held = after.filter((name) => name !== undefined);
        expect(new Set(held).size).toBe(held.length);
        const claims = claimsOf(...before.map((name, index) => person(`${index}`, name)));
        for (const write of ledger.writes()) {
          if (write.type === 'delete') claims.delete(documentPath(write.key));
          else {
            const { orgId, ownerId } = write.fields;
            claims.set(documentPath(write.key), { id: write.key.id, orgId: orgId ?? '', ownerId: ownerId ?? '' });
          }
        }
        const people = after.flatMap((name, index) => (name === undefined ? [] : [person(`${index}`, name)]));
        expect(new Map([...claims].sort())).toEqual(new Map([...claimsOf(...people)].sort()));
      }),
    );
  });
});
