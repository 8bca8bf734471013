import { checkExpiry, checkMachineKey } from '../keyChecks.ts';
import { checkApplicationOfKey } from '../recordChecks.ts';
import type { Section } from '../section.ts';
import { own, user } from '../sectionParts.ts';

/** Keys of applications and service users. */
export const keySections: readonly Section[] = [
  {
    name: 'appKeys',
    collection: 'applicationKeys',
    phase: 3,
    key: ['id'],
    references: [
      {
        ...own({
          collection: 'applications',
          key: ['appId'],
          missing: { id: 'COMMAND-sak24', key: 'Errors.Project.App.NotFound' },
        }),
        check: checkApplicationOfKey,
      },
    ],
    check: checkExpiry,
    error: {
      type: 'app_key',
      id: ['id'],
      exists: { id: 'COMMAND-so20alo', key: 'Errors.Project.App.Key.AlreadyExisting' },
    },
    success: { field: 'appKeys', entry: ['id'] },
    keys: true,
  },
  {
    name: 'machineKeys',
    collection: 'machineKeys',
    phase: 3,
    key: ['keyId'],
    references: [own(user('userId', 'COMMAND-bnipwm1'))],
    check: checkMachineKey,
    error: {
      type: 'machine_user_key',
      id: ['keyId'],
      exists: { id: 'COMMAND-091mops', key: 'Errors.User.Machine.Key.AlreadyExists' },
    },
    success: { field: 'machineKeys', entry: ['keyId'] },
    keys: true,
  },
];
