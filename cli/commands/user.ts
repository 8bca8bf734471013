// The commands on users and service users.

import { userUnknown } from '../../shared/errors/commandErrors.ts';
import { defineInstanceCommand, flag, optional, required, toList } from '../terminal/command.ts';
import { runAlone } from './runAlone.ts';

const userArgument = required('USER_ID', 'the person or service user');

export const userListCommand = defineInstanceCommand({
  name: 'user list',
  summary: 'list people and service users, with states and factors',
  arguments: [],
  options: {
    org: optional('ORG_ID', 'the organisation; by default all of them'),
    search: optional('WORD', 'only users with this text in their id, user name or e-mail address'),
  },
  examples: ['user list --org 330000000000000001 --data ./north', 'user list --search ada@example.com --data ./north'],
  run: async ({ store, options }) => {
    const { listUsers } = await import('../../shared/accounts/listing.ts');
    return toList('users', listUsers(store, options.org, options.search), {
      id: ({ userId }) => userId,
      organisation: ({ orgId }) => orgId,
      kind: ({ kind }) => kind,
      state: ({ state }) => state,
      factors: ({ factors }) => factors.join(', '),
      'user name': ({ userName }) => userName,
    });
  },
});

export const userLockCommand = defineInstanceCommand({
  name: 'user lock',
  summary: 'lock a person or service user',
  details: "The user's tokens are suspended.",
  isAudited: true,
  arguments: [userArgument],
  options: { force: flag('lock even the last IAM_OWNER') },
  examples: ['user lock 330000000000000201 --data ./north'],
  run: async ({ arguments: [userId], options, store, now }) => {
    const { changeLock } = await import('../../shared/accounts/userLocks.ts');
    await changeLock(store, userId, 'lock', now, options.force);
    return { json: { userId }, text: `${userId} is locked` };
  },
});

export const userUnlockCommand = defineInstanceCommand({
  name: 'user unlock',
  summary: 'unlock a person or service user',
  isAudited: true,
  arguments: [userArgument],
  options: {},
  examples: ['user unlock 330000000000000201 --data ./north'],
  run: async ({ arguments: [userId], store, now }) => {
    const { changeLock } = await import('../../shared/accounts/userLocks.ts');
    await changeLock(store, userId, 'unlock', now, false);
    return { json: { userId }, text: `${userId} is unlocked` };
  },
});

export const serviceUserCreateCommand = defineInstanceCommand({
  name: 'service-user create',
  summary: 'create a service user',
  isAudited: true,
  arguments: [required('NAME', 'user name and name of the service user')],
  options: { org: optional('ORG_ID', 'the organisation; by default the default organisation') },
  examples: ['service-user create migration --data ./north'],
  run: async ({ arguments: [name], options, store, now }) => {
    const { createServiceUser } = await import('../../shared/accounts/serviceUsers.ts');
    const userId = await createServiceUser(store, name, options.org, now);
    return { json: { userId }, text: `service user ${userId}` };
  },
});

export const serviceUserDeleteCommand = defineInstanceCommand({
  name: 'service-user delete',
  summary: 'delete a service user with its tokens',
  details: 'Its memberships and grants are deleted too. If the command was interrupted, repeat it.',
  isAudited: true,
  arguments: [required('USER_ID', 'the service user')],
  options: { force: flag('delete even the last IAM_OWNER') },
  examples: ['service-user delete 330000000000000301 --data ./north'],
  run: async (call) => {
    const {
      arguments: [userId],
      options: { force },
      signal,
    } = call;
    const { deleteServiceUser, requireServiceUser } = await import('../../shared/accounts/serviceUsers.ts');
    await requireServiceUser(call.store, userId);
    const interruption = 'interrupted: the service user may be deleted in part; repeat the command';
    try {
      await runAlone({ name: 'service-user delete', phase: 'deleting', interruption }, call, (store, onDeleted) =>
        deleteServiceUser(store, userId, { force, signal, onDeleted }),
      );
      return { json: { userId }, text: `service user ${userId} is deleted` };
    } catch (error) {
      // The user existed before the wait.
      if (!userUnknown.is(error)) throw error;
      return { json: { userId }, text: `another command has deleted service user ${userId} meanwhile` };
    }
  },
});
