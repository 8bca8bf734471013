import { StatementSync } from 'node:sqlite';
import { describe, expect, it, vi } from 'vitest';
import { RunDatabase } from '../../../../cli/records/runDatabase.ts';
import { readRecord } from '../../../../shared/organisation/record.ts';
import { sectionNamed } from '../../../support/fixtures/sectionNamed.ts';

const everything = { withPasswords: true, withOtp: true, withKeys: true };
const { signal } = new AbortController();

const project = (name: string) => readRecord(sectionNamed('projects'), { projectId: 'P', project: { name } }, 'O');
const link = (name: string) =>
  readRecord(sectionNamed('userLinks'), { userId: 'U', idpId: 'I', providedUserId: 'x', providedUserName: name }, 'O');

/** A record's section, content and organisation. */
type Given = readonly [section: string, json: object];

const read = ([section, json]: Given) => readRecord(sectionNamed(section), structuredClone(json), 'O');

/** The paths of the fields in which records of two sides differ. */
async function differingPaths(first: readonly Given[], second: readonly Given[]): Promise<string[]> {
  using database = new RunDatabase(everything);
  for (const record of first) database.first.add(read(record));
  for (const record of second) database.second.add(read(record));
  const { differences } = await database.compare(signal, 10);
  return differences.entries.flatMap(({ fields = [] }) => fields.map(({ path }) => path));
}

describe('a record that an import changes because of other records', () => {
  const domain = (domainName: string, more: object = {}): Given => ['domains', { orgId: 'O', domainName, ...more }];
  const primary = (domainName: string) => domain(domainName, { isVerified: true, isPrimary: true });
  const secondary = (domainName: string) => domain(domainName, { isVerified: true });
  const role = (roleKey: string): Given => ['projectRoles', { projectId: 'P', roleKey, displayName: 'r' }];
  const grant = (...roleKeys: string[]): Given => ['userGrants', { userId: 'U', projectId: 'P', roleKeys }];

  it('equals what the import stores of several primary domains', async () => {
    const file = [primary('a'), primary('b')];
    expect(await differingPaths(file, [secondary('a'), primary('b')])).toEqual([]);
    expect(await differingPaths(file, [primary('a'), secondary('b')])).toEqual([]);
    expect(await differingPaths([secondary('a'), primary('b')], [primary('a'), secondary('b')])).toEqual(['isPrimary']);
    expect(await differingPaths([primary('b')], [primary('a'), secondary('b')])).toEqual([]);
    expect(await differingPaths([secondary('b')], [primary('a'), primary('b')])).toEqual(['isPrimary']);
  });

  it('equals the grant without the roles that its project lacks', async () => {
    expect(await differingPaths([role('x'), grant('x', 'y')], [role('x'), grant('x')])).toEqual([]);
    expect(await differingPaths([role('x'), grant('x', 'y')], [role('x'), role('y'), grant('x')])).toEqual([
      'roleKeys',
    ]);
    expect(await differingPaths([grant('y')], [role('x'), grant('x')])).toEqual(['roleKeys[0]']);
  });
});

describe('a member of a project grant to the granting organisation', () => {
  const member: Given = ['projectGrantMembers', { projectId: 'P', grantId: 'G', userId: 'U', roles: ['R'] }];
  const grantTo = (grantedOrgId: string): Given => [
    'projectGrants',
    { grantId: 'G', projectGrant: { projectId: 'P', grantedOrgId } },
  ];
  const outcomes = async (first: readonly Given[], second: readonly Given[]) => {
    using database = new RunDatabase(everything);
    for (const record of first) database.first.add(read(record));
    for (const record of second) database.second.add(read(record));
    const { differences } = await database.compare(signal, 10);
    return differences.entries.map(({ section, outcome }) => `${section} ${outcome}`);
  };

  it('is compared as little as the grant, which no import carries', async () => {
    expect(await outcomes([grantTo('O'), member], [])).toEqual([]);
    expect(await outcomes([], [member, grantTo('O')])).toEqual([]);
    expect(await outcomes([grantTo('X'), member], [grantTo('X')])).toEqual(['projectGrantMembers onlyFirst']);
    expect(await outcomes([grantTo('X')], [member, grantTo('X')])).toEqual(['projectGrantMembers onlySecond']);
  });
});

describe('a record that one side has twice', () => {
  const differences = async (first: readonly (typeof project)[], names: { first: string[]; second: string[] }) => {
    const found = first.map(async (record) => {
      using database = new RunDatabase(everything);
      for (const name of names.first) database.first.add(record(name));
      for (const name of names.second) database.second.add(record(name));
      const compared = await database.compare(signal, 10);
      return compared.differences.entries.map(({ outcome, isRepeat }) => ({ outcome, isRepeat }));
    });
    return (await Promise.all(found)).flat();
  };
  const kinds = [project, link];

  it('with other content is only on that side, as a repetition', async () => {
    const once = ['one'];
    const twice = ['one', 'two'];
    const repeated = (outcome: string) => kinds.map(() => ({ outcome, isRepeat: true }));
    expect(await differences(kinds, { first: once, second: twice })).toEqual(repeated('onlySecond'));
    expect(await differences(kinds, { first: twice, second: once })).toEqual(repeated('onlyFirst'));
    expect(await differences(kinds, { first: twice, second: twice })).toEqual([]);
  });

  it('with the same content is there once', async () => {
    expect(await differences(kinds, { first: ['one'], second: ['one', 'one'] })).toEqual([]);
  });

  it('is not a repetition if the other side lacks it', async () => {
    const expected = kinds.map(() => ({ outcome: 'onlySecond', isRepeat: undefined }));
    expect(await differences(kinds, { first: [], second: ['one'] })).toEqual(expected);
  });
});

describe('the records of two sides', () => {
  const person = (userName: string, more: object = {}): Given => [
    'humanUsers',
    { userId: userName, user: { userName, profile: { firstName: 'A', lastName: 'B' }, email: {}, ...more } },
  ];

  it('are read again without those of before', async () => {
    using database = new RunDatabase(everything);
    database.first.add(read(person('ada')));
    for (const userName of ['ada', 'bob']) {
      database.second.reset();
      database.second.add(read(person(userName)));
      await database.compare(signal, 10);
    }
    const pairs = await Array.fromAsync(database.pairs(signal, ['humanUsers', 'org']));
    expect(pairs).toMatchObject([{ id: 'ada', outcome: 'onlyFirst', second: undefined }]);
  });

  it('have digests instead of secrets', () => {
    const run = vi.spyOn(StatementSync.prototype, 'run');
    using database = new RunDatabase(everything);
    const secrets = { hashedPassword: { value: '$2a$10$hash' }, otpCode: 'SEED' };
    for (const side of [database.first, database.second]) side.add(read(person('ada', secrets)));
    const kept = JSON.stringify(run.mock.calls.flat());
    run.mockRestore();
    expect(kept).toContain('ada');
    for (const secret of Object.values(secrets).map((value) => (typeof value === 'string' ? value : value.value)))
      expect(kept).not.toContain(secret);
  });
});
