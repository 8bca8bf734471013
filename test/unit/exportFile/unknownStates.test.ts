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
  it('are unknown for each organisation and user without one', async () => {
    const acme = { orgId: 'acme', org, humanUsers: [person('ada'), person('bob')], machineUsers: [robot] };
    expect(await unknownStates([acme])).toEqual({ organisations: 1, people: 2, serviceUsers: 1 });
  });

  it('are known for the records that have one, whatever other records have', async () => {
    const active = { orgId: 'a', org, orgState: 'ORG_STATE_ACTIVE' };
    const bob = { ...person('bob'), state: 'USER_STATE_ACTIVE' };
    const locked = { ...robot, state: 'USER_STATE_LOCKED' };
    expect(await unknownStates([{ ...active, humanUsers: [bob], machineUsers: [locked] }])).toBeUndefined();
    const users = {
      humanUsers: [bob, person('ada'), person('eve')],
      machineUsers: [locked, { ...robot, userId: 'r' }],
    };
    expect(await unknownStates([{ ...active, ...users }])).toEqual({ organisations: 0, people: 2, serviceUsers: 1 });
    const withoutOwn = { orgId: 'b', org: { name: 'B' }, humanUsers: [bob] };
    expect(await unknownStates([withoutOwn])).toEqual({ organisations: 1, people: 0, serviceUsers: 0 });
  });

  it('are not counted of invalid records, which no import takes', async () => {
    const invalid = { ...person('ada'), user: { userName: '' } };
    const acme = { orgId: 'acme', org, orgState: 'ORG_STATE_ACTIVE', humanUsers: [invalid] };
    expect(await unknownStates([acme])).toBeUndefined();
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
    const withState = [...entries, { orgId: 'acme', orgState: 'ORG_STATE_ACTIVE' }];
    expect(await unknownStates(withState)).toEqual({ organisations: 0, people: 1, serviceUsers: 1 });
  });

  it('are ignored if the request excludes the organisation, and if a file has neither it nor its users', async () => {
    const acme = { orgId: 'acme', org, humanUsers: [person('ada')] };
    expect(await unknownStates([acme], (orgId) => orgId !== 'acme')).toBeUndefined();
    expect(
      await unknownStates([{ orgId: 'acme', projects: [{ projectId: '1', project: { name: 'P' } }] }]),
    ).toBeUndefined();
  });
});
