import { checkTriggerAction } from '../recordChecks.ts';
import type { Section } from '../section.ts';
import { own, taken } from '../sectionParts.ts';

/** Actions, and what triggers them. */
export const actionSections: readonly Section[] = [
  {
    name: 'triggerActions',
    collection: 'triggerActions',
    phase: 2,
    key: ['$orgId', 'flowType', 'triggerType'],
    check: checkTriggerAction,
    references: [
      own({
        collection: 'actions',
        key: ['actionIds[]'],
        missing: { id: 'COMMAND-dg422', key: 'Errors.Flow.ActionIDsNotExist' },
      }),
    ],
    error: {
      type: 'trigger_action',
      id: ['flowType', 'triggerType'],
      exists: { id: 'COMMAND-Nfh52', key: 'Errors.Flow.AlreadyExists' },
    },
    success: {
      field: 'triggerActions',
      entry: { flowType: 'flowType', triggerType: 'triggerType', actionIds: 'actionIds' },
    },
  },
  {
    name: 'actions',
    inner: 'action',
    collection: 'actions',
    phase: 1,
    key: ['actionId'],
    unique: [{ type: 'action', parts: ['$orgId', 'action.name'], taken: taken('Errors.Action.AlreadyExists') }],
    error: { type: 'action', id: ['actionId'], exists: { id: 'COMMAND-nau2k', key: 'Errors.Action.AlreadyExisting' } },
    success: { field: 'actionIds', entry: ['actionId'] },
  },
];
