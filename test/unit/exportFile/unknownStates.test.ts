import { expect, it } from 'vitest';
import { inspect } from '../../../shared/exportFile/inspection.ts';
import { person } from '../../support/fixtures/organisations.ts';
import { provedFile } from '../../support/fixtures/provedFile.ts';
import { fileWith } from '../../support/zitadel/files.ts';

const org = { name: 'Acme' };
const state = 'USER_STATE_ACTIVE';
const [ada, bob] = [person('ada'), { ...person('bob'), state }];
const robot = { userId: 'robot', user: { userName: 'robot', name: 'Robot' } };
const locked = { ...robot, userId: 'locked', state: 'USER_STATE_LOCKED' };
const acme = { orgId: 'acme', org };
const active = { ...acme, orgState: 'ORG_STATE_ACTIVE' };
const invalid = { ...person('eve'), user: { userName: '' } };

/** Entries of a file without a manifest, and its organisations, people and service users whose states are unknown. */
const rows: Readonly<Record<string, readonly [orgs: readonly object[], unknown?: readonly number[]]>> = {
  'each organisation and user without a state': [[{ ...acme, humanUsers: [ada], machineUsers: [robot] }], [1, 1, 1]],
  'none that has a state': [[{ ...active, humanUsers: [bob], machineUsers: [locked] }]],
  'the users without a state beside others': [
    [{ ...active, humanUsers: [bob, ada], machineUsers: [locked, robot] }],
    [0, 1, 1],
  ],
  'an organisation without a state of users with one': [[{ ...acme, humanUsers: [bob] }], [1, 0, 0]],
  'no invalid record, which no import takes': [[{ ...active, humanUsers: [invalid] }]],
  'a state that means unspecified': [
    [{ ...acme, orgState: 0, humanUsers: [{ ...ada, state: 'USER_STATE_UNSPECIFIED' }] }],
    [1, 1, 0],
  ],
  'those in all entries of an organisation': [
    [
      { ...acme, humanUsers: [ada] },
      { orgId: 'acme', machineUsers: [robot] },
    ],
    [1, 1, 1],
  ],
  'no organisation whose state is in a later entry': [
    [
      { ...acme, humanUsers: [ada] },
      { orgId: 'acme', orgState: 'ORG_STATE_ACTIVE' },
    ],
    [0, 1, 0],
  ],
  'no organisation that the call excludes': [[{ orgId: 'excluded', org, humanUsers: [ada] }]],
  'no organisation of which the file has other records only': [
    [{ orgId: 'acme', projects: [{ projectId: '1', project: { name: 'P' } }] }],
  ],
};

it.each(Object.entries(rows))('the unknown states of a file include %s', async (_name, [orgs, unknown]) => {
  const isSelected = (orgId: string) => orgId !== 'excluded';
  const { unknownStates } = await inspect(fileWith(orgs), new AbortController().signal, { isSelected });
  const [organisations, people, serviceUsers] = unknown ?? [];
  expect(unknownStates).toEqual(unknown && { organisations, people, serviceUsers });
});

it('a manifest proves no states of organisations and users, whose exports contain every state', async () => {
  const robots = [robot, locked];
  const open = fileWith(JSON.stringify(await provedFile([{ ...acme, humanUsers: [ada, bob], machineUsers: robots }])));
  const { unknownStates, proved } = await inspect(open, new AbortController().signal);
  expect({ proved, unknownStates }).toEqual({
    proved: true,
    unknownStates: { organisations: 1, people: 1, serviceUsers: 1 },
  });
});
