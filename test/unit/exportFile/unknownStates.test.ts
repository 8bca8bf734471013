import { describe, expect, it } from 'vitest';
import { inspect } from '../../../shared/exportFile/inspection.ts';
import { person } from '../../support/fixtures/organisations.ts';
import { fileWith } from '../../support/zitadel/files.ts';

const robot = { userId: 'robot', user: { userName: 'robot', name: 'Robot' } };
const org = { name: 'Acme' };

async function unknownStates(orgs: readonly object[], isSelected = (_orgId: string) => true) {
  const inspection = await inspect(fileWith(orgs), new AbortController().signal, { isSelected });
  return inspection.unknownStates;
}

describe('the states of a file without manifest', () => {
  it('are unknown if the file has none for an organisation and its users', async () => {
    const acme = { orgId: 'acme', org, humanUsers: [person('ada'), person('bob')], machineUsers: [robot] };
    expect(await unknownStates([acme])).toEqual({ organisations: 1, people: 2, serviceUsers: 1 });
  });

  it('are known for each organisation that has one', async () => {
    const stated = [
      { orgId: 'a', org, orgState: 'ORG_STATE_ACTIVE', humanUsers: [person('ada')] },
      { orgId: 'b', org: { name: 'B' }, humanUsers: [{ ...person('bob'), state: 'USER_STATE_ACTIVE' }] },
      { orgId: 'c', org: { name: 'C' }, machineUsers: [{ ...robot, state: 'USER_STATE_LOCKED' }] },
    ];
    expect(await unknownStates(stated)).toBeUndefined();
    const other = { orgId: 'd', org: { name: 'D' }, humanUsers: [person('dan')] };
    expect(await unknownStates([...stated, other])).toEqual({ organisations: 1, people: 1, serviceUsers: 0 });
  });

  it('are unknown if the file has only the state that means unspecified', async () => {
    const ada = { ...person('ada'), state: 'USER_STATE_UNSPECIFIED' };
    const acme = { orgId: 'acme', org, orgState: 0, humanUsers: [ada] };
    expect(await unknownStates([acme])).toEqual({ organisations: 1, people: 1, serviceUsers: 0 });
  });

  it('are collected from all entries of an organisation', async () => {
    const entries = [
      { orgId: 'acme', org, humanUsers: [person('ada')] },
      { orgId: 'acme', machineUsers: [robot] },
    ];
    expect(await unknownStates(entries)).toEqual({ organisations: 1, people: 1, serviceUsers: 1 });
    expect(await unknownStates([...entries, { orgId: 'acme', orgState: 'ORG_STATE_ACTIVE' }])).toBeUndefined();
  });

  it('are ignored if the request excludes the organisation, and if a file has neither it nor its users', async () => {
    const acme = { orgId: 'acme', org, humanUsers: [person('ada')] };
    expect(await unknownStates([acme], (orgId) => orgId !== 'acme')).toBeUndefined();
    expect(
      await unknownStates([{ orgId: 'acme', projects: [{ projectId: '1', project: { name: 'P' } }] }]),
    ).toBeUndefined();
  });
});
