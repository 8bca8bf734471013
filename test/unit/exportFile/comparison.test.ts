import { describe, expect, it } from 'vitest';
import { Comparison } from '../../../shared/exportFile/comparison.ts';
import { readRecord } from '../../../shared/organisation/record.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';

const project = (name: string) => readRecord(sectionNamed('projects'), { projectId: 'P', project: { name } }, 'O');
const link = (name: string) =>
  readRecord(sectionNamed('userLinks'), { userId: 'U', idpId: 'I', providedUserId: 'x', providedUserName: name }, 'O');

/** A record's section, content and organisation. */
type Given = readonly [section: string, json: object];

const read = ([section, json]: Given) => readRecord(sectionNamed(section), structuredClone(json), 'O');

/** The paths of the fields in which records of two sides differ. */
function differingPaths(first: readonly Given[], second: readonly Given[]): string[] {
  using comparison = new Comparison({ withPasswords: true, withOtp: true, withKeys: true }, 10);
  for (const record of first) comparison.first.add(read(record));
  for (const record of second) comparison.second.add(read(record));
  comparison.finish();
  return comparison.differences.entries.flatMap(({ fields = [] }) => fields.map(({ path }) => path));
}

describe('a record that an import changes because of other records', () => {
  const domain = (domainName: string, more: object = {}): Given => ['domains', { orgId: 'O', domainName, ...more }];
  const primary = (domainName: string) => domain(domainName, { isVerified: true, isPrimary: true });
  const secondary = (domainName: string) => domain(domainName, { isVerified: true });
  const role = (roleKey: string): Given => ['projectRoles', { projectId: 'P', roleKey, displayName: 'r' }];
  const grant = (...roleKeys: string[]): Given => ['userGrants', { userId: 'U', projectId: 'P', roleKeys }];

  it('equals what the import stores of several primary domains', () => {
    const file = [primary('a'), primary('b')];
    expect(differingPaths(file, [secondary('a'), primary('b')])).toEqual([]);
    expect(differingPaths(file, [primary('a'), secondary('b')])).toEqual([]);
    expect(differingPaths([secondary('a'), primary('b')], [primary('a'), secondary('b')])).toEqual(['isPrimary']);
    expect(differingPaths([primary('b')], [primary('a'), secondary('b')])).toEqual([]);
    expect(differingPaths([secondary('b')], [primary('a'), primary('b')])).toEqual(['isPrimary']);
  });

  it('equals the grant without the roles that its project lacks', () => {
    expect(differingPaths([role('x'), grant('x', 'y')], [role('x'), grant('x')])).toEqual([]);
    expect(differingPaths([role('x'), grant('x', 'y')], [role('x'), role('y'), grant('x')])).toEqual(['roleKeys']);
    expect(differingPaths([grant('y')], [role('x'), grant('x')])).toEqual(['roleKeys[0]']);
  });
});

describe('a member of a project grant to the granting organisation', () => {
  const member: Given = ['projectGrantMembers', { projectId: 'P', grantId: 'G', userId: 'U', roles: ['R'] }];
  const grantTo = (grantedOrgId: string): Given => [
    'projectGrants',
    { grantId: 'G', projectGrant: { projectId: 'P', grantedOrgId } },
  ];
  const outcomes = (first: readonly Given[], second: readonly Given[]) => {
    using comparison = new Comparison({ withPasswords: true, withOtp: true, withKeys: true }, 10);
    for (const record of first) comparison.first.add(read(record));
    for (const record of second) comparison.second.add(read(record));
    comparison.finish();
    return comparison.differences.entries.map(({ section, outcome }) => `${section} ${outcome}`);
  };

  it('is compared as little as the grant, which no import carries', () => {
    expect(outcomes([grantTo('O'), member], [])).toEqual([]);
    expect(outcomes([], [member, grantTo('O')])).toEqual([]);
    expect(outcomes([grantTo('X'), member], [grantTo('X')])).toEqual(['projectGrantMembers onlyFirst']);
    expect(outcomes([grantTo('X')], [member, grantTo('X')])).toEqual(['projectGrantMembers onlySecond']);
  });
});

describe('a record that one side has twice', () => {
  const differences = (first: readonly (typeof project)[], names: { first: string[]; second: string[] }) =>
    first.flatMap((record) => {
      using comparison = new Comparison({ withPasswords: true, withOtp: true, withKeys: true }, 10);
      for (const name of names.first) comparison.first.add(record(name));
      for (const name of names.second) comparison.second.add(record(name));
      comparison.finish();
      return comparison.differences.entries.map(({ outcome, isRepeat }) => ({ outcome, isRepeat }));
    });
  const kinds = [project, link];

  it('with other content is only on that side, as a repetition', () => {
    const once = ['one'];
    const twice = ['one', 'two'];
    const repeated = (outcome: string) => kinds.map(() => ({ outcome, isRepeat: true }));
    expect(differences(kinds, { first: once, second: twice })).toEqual(repeated('onlySecond'));
    expect(differences(kinds, { first: twice, second: once })).toEqual(repeated('onlyFirst'));
    expect(differences(kinds, { first: twice, second: twice })).toEqual([]);
  });

  it('with the same content is there once', () => {
    expect(differences(kinds, { first: ['one'], second: ['one', 'one'] })).toEqual([]);
  });

  it('is not a repetition if the other side lacks it', () => {
    const expected = kinds.map(() => ({ outcome: 'onlySecond', isRepeat: undefined }));
    expect(differences(kinds, { first: [], second: ['one'] })).toEqual(expected);
  });
});
