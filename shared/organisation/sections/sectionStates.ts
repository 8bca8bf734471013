import { isClosed, stateFields } from '../states.ts';
import type { FieldFact } from '../zitadelFacts.ts';
import { releasesWithoutStates } from '../zitadelReleases.ts';

export const activated: FieldFact = {
  does: 'changes',
  fields: ['state'],
  text: 'ZITADEL activates this record',
  steps: [
    {
      reason: 'record_activated',
      byHand: true,
      remedy: 'deactivate the record after the import',
      applies: ({ state }) => state?.endsWith('_INACTIVE') === true,
    },
  ],
};

export const stateless: FieldFact = {
  ...releasesWithoutStates,
  does: 'imports not',
  fields: stateFields,
  text: 'ZITADEL imports no states of organisations and users',
  steps: [
    {
      reason: 'states_not_imported',
      scope: 'file',
      byHand: true,
      remedy:
        'after the import, deactivate or lock the organisations and users in ZITADEL that are not active in the source',
      applies: ({ state }) => isClosed(state),
    },
  ],
};

/** The states in which users have no access and that an import into ZITADEL can set. */
const importedStates = new Set(['USER_STATE_INACTIVE', 'USER_STATE_LOCKED']);

export const userStates: readonly FieldFact[] = [
  stateless,
  {
    does: 'imports not',
    fields: ['state'],
    text: 'ZITADEL does not import this state',
    steps: [
      {
        reason: 'state_not_imported',
        byHand: true,
        remedy: 'deactivate the user after the import',
        applies: ({ state = '' }) => isClosed(state) && !importedStates.has(state),
      },
    ],
  },
  {
    does: 'changes',
    fields: ['state'],
    text: 'the user has another state in ZITADEL that also prevents logins, because ZITADEL can neither suspend users nor deactivate people in the state INITIAL',
    explains: (states) => states.every((state) => typeof state === 'string' && isClosed(state)),
    plan: 'ZITADEL can neither suspend users nor deactivate people in the state INITIAL: this command deactivates users who are suspended in the source, and locks such people',
  },
];
