import { describe, expect, it } from 'vitest';
import { readRecord } from '../../../shared/organisation/record.ts';
import { createWrites, planRecord } from '../../../shared/organisation/recordPlan.ts';
import { documentPath } from '../../../shared/store/store.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';

function plan(section: string, value: unknown, orgId = 'org-1', loginNamesByDomain = false) {
  return planRecord(readRecord(sectionNamed(section), value, orgId), loginNamesByDomain);
}

const user = (userName: string, orgId = 'org-1', byDomain = false) =>
  plan('humanUsers', { userId: 'u', user: { userName } }, orgId, byDomain);
const claimIds = ({ claims }: ReturnType<typeof plan>) => claims.map(({ key }) => key.id);

describe('a user name', () => {
  it('is one claim in the whole instance, regardless of case', () => {
    expect(claimIds(user('Alice', 'org-1'))).toHaveLength(1);
    expect(claimIds(user('Alice', 'org-1'))).toEqual(claimIds(user('aLICE', 'org-2')));
  });

  it('is one claim in its organisation if login names carry its domain', () => {
    expect(claimIds(user('alice', 'org-1', true))).toEqual(claimIds(user('ALICE', 'org-1', true)));
    expect(claimIds(user('alice', 'org-1', true))).not.toEqual(claimIds(user('alice', 'org-2', true)));
    expect(claimIds(user('alice', 'org-1', true))).not.toEqual(claimIds(user('alice', 'org-1', false)));
  });

  it('is the same claim for a person and for a service user', () => {
    const robot = plan('machineUsers', { userId: 'm', user: { userName: 'alice' } });
    expect(claimIds(robot)).toEqual(claimIds(user('alice')));
  });
});

describe('the part after the last @ of a user name', () => {
  const reserved = (userName: string, byDomain = false) => user(userName, 'org-1', byDomain).reserves;

  it('is a name that the domain of another organisation may have', () => {
    const verified = plan('domains', { domainName: 'b.example', isVerified: true }, 'org-2');
    for (const userName of ['a@b.example', 'a@x@B.Example']) {
      expect(reserved(userName).map(({ key }) => key.id)).toEqual(claimIds(verified));
    }
  });

  it('is absent without an @, and if login names carry the domain of their organisation', () => {
    expect(reserved('b.example')).toEqual([]);
    expect(reserved('a@b.example', true)).toEqual([]);
  });
});

describe('a domain', () => {
  it('is claimed only if it is verified', () => {
    expect(claimIds(plan('domains', { domainName: 'a.example' }))).toEqual([]);
    expect(claimIds(plan('domains', { domainName: 'a.example', isVerified: true }))).toHaveLength(1);
  });
});

describe('a name within an organisation', () => {
  it.each([
    ['projects', { projectId: 'p', project: { name: 'Portal' } }],
    ['actions', { actionId: 'a', action: { name: 'Portal' } }],
    ['jwtIdps', { idpId: 'i', idp: { name: 'Portal' } }],
  ])('of %s is free in every other organisation', (section, value) => {
    expect(claimIds(plan(section, value, 'org-1'))).toHaveLength(1);
    expect(claimIds(plan(section, value, 'org-1'))).not.toEqual(claimIds(plan(section, value, 'org-2')));
  });
});

describe('the place of a record', () => {
  it('differs from that of every other record, however ids are combined', () => {
    const ids = [
      plan('userMetadata', { id: 'a|b', key: 'c' }),
      plan('userMetadata', { id: 'a', key: 'b|c' }),
      plan('userMetadata', { id: 'a/b', key: 'c' }),
      plan('userMetadata', { id: 'a%7cb', key: 'c' }),
      plan('userMetadata', { id: '', key: 'a|b|c' }),
    ].map(({ key }) => key.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is the same for the members of each kind', () => {
    const ids = [
      plan('orgMembers', { userId: 'u' }, 'x'),
      plan('projectMembers', { projectId: 'x', userId: 'u' }),
      plan('projectGrantMembers', { projectId: 'x', grantId: 'g', userId: 'u' }),
    ].map(({ key }) => key);
    expect(new Set(ids.map(({ id }) => id)).size).toBe(3);
    expect(new Set(ids.map(({ collection }) => collection))).toEqual(new Set(['members']));
  });
});

describe('the writes of a record', () => {
  it('create it with its claims, so that all or none of them exist', () => {
    const planned = user('alice');
    const writes = createWrites(planned, '2026-01-01T00:00:00.000Z');
    expect(writes.map(({ type, key }) => [type, key])).toEqual([
      ['create', planned.key],
      ...planned.claims.map(({ key }) => ['create', key]),
    ]);
    expect(writes[1]).toMatchObject({ fields: { ownerId: documentPath(planned.key), orgId: 'org-1' } });
  });

  it('begin its sequence at 1 and set its creation date', () => {
    const at = '2026-01-01T00:00:00.000Z';
    const [write] = createWrites(user('alice'), at);
    expect(write).toMatchObject({
      fields: { sequence: 1, createdAt: at, changedAt: at, partition: 'humanUsers/org-1' },
    });
  });
});
