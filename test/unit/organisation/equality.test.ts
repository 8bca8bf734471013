import { describe, expect, it } from 'vitest';
import { type ComparedContent, fieldDifferences, isOmission } from '../../../shared/organisation/equality.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';

const content = (json: ComparedContent['json'], more: Partial<ComparedContent> = {}): ComparedContent => ({
  json,
  secrets: {},
  ...more,
});

/** Compares two records of a section, whose organisation has the identity provider `own`. */
function differences(section: string, first: ComparedContent, second: ComparedContent) {
  return fieldDifferences(sectionNamed(section), first, second, (idpId) => idpId === 'own');
}

const ofActions = (first: ComparedContent['json'], second: ComparedContent['json']) =>
  differences('actions', content(first), content(second));

describe('the differing fields of two records', () => {
  it('have their paths and both values', () => {
    const first = { user: { userName: 'ada', phone: '1', tags: ['a', 'b'] } };
    const second = { user: { userName: 'bob', email: { email: 'b' }, tags: ['a', 'c'] } };
    expect(ofActions(first, second)).toEqual([
      { path: 'user.userName', first: 'ada', second: 'bob' },
      { path: 'user.phone', first: '1', second: undefined },
      { path: 'user.tags[1]', first: 'b', second: 'c' },
      { path: 'user.email', first: undefined, second: { email: 'b' } },
    ]);
  });

  it('are none of equal records, whatever the order of their fields', () => {
    expect(ofActions({ a: 1, b: [1] }, { b: [1], a: 1 })).toEqual([]);
  });

  it('include whole lists of different lengths', () => {
    expect(ofActions({ a: [1] }, { a: [1, 2] })).toEqual([{ path: 'a', first: [1], second: [1, 2] }]);
  });

  it('do not show secrets', () => {
    const first = content({}, { secrets: { a: 'x', b: 'x', c: 'x' } });
    const second = content({}, { secrets: { a: 'y', c: 'x', d: 'y' } });
    expect(differences('humanUsers', first, second)).toEqual([
      { path: 'a', secret: 'different' },
      { path: 'b', secret: 'onlyFirst' },
      { path: 'd', secret: 'onlySecond' },
    ]);
  });

  it('include a factor that one record has, and that the other lacks or states to be missing', () => {
    const factor = (otpEmail: boolean | undefined) => content({}, { otpEmail });
    expect(differences('humanUsers', factor(undefined), factor(false))).toEqual([]);
    for (const lacking of [undefined, false]) {
      const difference = { path: 'otpEmail', first: lacking, second: true };
      expect(differences('humanUsers', factor(lacking), factor(true))).toEqual([difference]);
    }
  });

  it.each([
    ['loginPolicy', (ownerType?: string) => ({ idps: [{ idpId: 'own', ownerType }, { idpId: 'other' }] })],
    ['userLinks', (idpName?: string) => ({ idpId: 'own', idpName, idpType: idpName })],
  ])('exclude those that exports derive from an own identity provider, in %s', (section, record) => {
    for (const [first, second] of [
      ['A', 'B'],
      ['A', undefined],
    ])
      expect(differences(section, content(record(first)), content(record(second)))).toEqual([]);
  });

  it('include the description of an identity provider that the organisation does not have', () => {
    const policy = (ownerType: string) => content({ idps: [{ idpId: 'other', ownerType }] });
    expect(differences('loginPolicy', policy('SYSTEM'), policy('ORG'))).toEqual([
      { path: 'idps[0].ownerType', first: 'SYSTEM', second: 'ORG' },
    ]);
    const link = (idpName: string) => content({ idpId: 'other', idpName });
    expect(differences('userLinks', link('A'), link('B'))).toEqual([{ path: 'idpName', first: 'A', second: 'B' }]);
  });
});

describe('an import', () => {
  const stated = content({});
  const omitted = content({}, { state: { value: 'USER_STATE_ACTIVE', source: 'unknown' } });

  it('leaves credentials and factors that its record omits', () => {
    const secret = (kind: 'different' | 'onlyFirst' | 'onlySecond') => ({ path: 'p', secret: kind });
    expect(isOmission(secret('onlySecond'), stated, false)).toBe(true);
    expect(isOmission(secret('onlyFirst'), stated, false)).toBe(false);
    expect(isOmission(secret('different'), stated, false)).toBe(false);
    expect(isOmission({ path: 'otpEmail', second: true }, stated, false)).toBe(true);
    expect(isOmission({ path: 'otpEmail', first: false, second: true }, content({}, { otpEmail: false }), false)).toBe(
      false,
    );
  });

  it('leaves a state that its record omits if it keeps states', () => {
    const state = { path: 'state', first: 'USER_STATE_ACTIVE', second: 'USER_STATE_LOCKED' };
    expect(isOmission(state, omitted, true)).toBe(true);
    expect(isOmission(state, omitted, false)).toBe(false);
    expect(isOmission(state, stated, true)).toBe(false);
    expect(isOmission({ ...state, path: 'user.state' }, omitted, true)).toBe(false);
  });
});
