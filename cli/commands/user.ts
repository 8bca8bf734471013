import { userUnknown } from '../../shared/errors/commandErrors.ts';
import type { ListedUser } from '../accounts/listing.ts';
import type { deleteServiceUser } from '../accounts/serviceUsers.ts';
import {
  defineInstanceCommand,
  flag,
  type OpenInstance,
  optional,
  required,
  type Surroundings,
  toList,
} from '../terminal/command.ts';
import { named } from '../terminal/numberTexts.ts';
import { askConfirmation } from '../terminal/questions.ts';
import { section } from '../terminal/terminal.ts';
import { runAlone } from './runAlone.ts';

const userArgument = required('USER_ID', 'the person or service user');
const DELETED_WITH =
  "the user's tokens, keys, factors, links and metadata, and the user's memberships and grants in all organisations";

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
    const { listUsers } = await import('../accounts/listing.ts');
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
  details: "The user's tokens are rejected until the user is unlocked.",
  isAudited: true,
  arguments: [userArgument],
  options: { force: flag('lock even the last IAM_OWNER') },
  examples: ['user lock 330000000000000201 --data ./north'],
  run: async ({ arguments: [userId], options, store, now }) => {
    const { changeLock } = await import('../accounts/userLocks.ts');
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
    const { changeLock } = await import('../accounts/userLocks.ts');
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
    const { createServiceUser } = await import('../accounts/serviceUsers.ts');
    const userId = await createServiceUser(store, name, options.org, now);
    return { json: { userId }, text: `service user ${userId}` };
  },
});

export const userDeleteCommand = defineInstanceCommand({
  name: 'user delete',
  summary: 'delete a user, and the records that refer to it',
  details: `The command also deletes ${DELETED_WITH}. If the command was interrupted, repeat it.`,
  isAudited: true,
  arguments: [userArgument],
  options: { yes: flag('skip the confirmation'), force: flag('delete even the last IAM_OWNER') },
  examples: ['user delete 330000000000000201 --data ./north'],
  run: async (call) => {
    const {
      arguments: [userId],
      store,
    } = call;
    const { describeUser } = await import('../accounts/userNames.ts');
    const user = await describeUser(store, userId);
    const { userName, kind, orgId } = user;
    const lines = [`${kind} ${named(userId, userName)} of organisation ${orgId}`];
    const what = section(`Deletes this user with ${DELETED_WITH}`, lines);
    if (!(await askConfirmation('Delete?', call, what))) {
      const text = [...what, 'nothing is deleted: add --yes'];
      return { json: { ...user, deleted: false }, text, exitStatus: () => 'unconfirmed' };
    }
    const { deleteUser } = await import('../../shared/accounts/userRemoval.ts');
    const text = await deleteAlone(call, { name: 'user delete', kind, remove: deleteUser });
    return { json: { ...user, deleted: true }, text };
  },
});

export const serviceUserDeleteCommand = defineInstanceCommand({
  name: 'service-user delete',
  summary: 'delete a service user with its tokens',
  details:
    'The command also deletes the memberships and grants of the user. If the command was interrupted, repeat it.',
  isAudited: true,
  arguments: [required('USER_ID', 'the service user')],
  options: { force: flag('delete even the last IAM_OWNER') },
  examples: ['service-user delete 330000000000000301 --data ./north'],
  run: async (call) => {
    const {
      arguments: [userId],
      store,
    } = call;
    const { deleteServiceUser, requireServiceUser } = await import('../accounts/serviceUsers.ts');
    await requireServiceUser(store, userId);
    const deletion = { name: 'service-user delete', kind: 'service user', remove: deleteServiceUser } as const;
    const text = await deleteAlone(call, deletion);
    return { json: { userId }, text };
  },
});

interface DeletionCall extends OpenInstance, Surroundings {
  readonly arguments: readonly [string];
  readonly options: { readonly force: boolean };
}

interface Deletion {
  readonly name: string;
  readonly kind: ListedUser['kind'];
  readonly remove: typeof deleteServiceUser;
}

async function deleteAlone(call: DeletionCall, { name, kind, remove }: Deletion): Promise<string> {
  const {
    arguments: [userId],
    options: { force },
  } = call;
  const interruption = `interrupted: some records of the ${kind} may already be deleted; repeat the command to delete the rest`;
  try {
    await runAlone({ name, phase: 'deleting', interruption }, call, (store, onDeleted, signal) =>
      remove(store, userId, { force, signal, onDeleted }),
    );
    return `${kind} ${userId} is deleted`;
  } catch (error) {
    // The command has found the user before it waited for the instance's lock. If the user is missing now, another
    // command has deleted the user during the wait.
    if (!userUnknown.is(error)) throw error;
    return `another command has deleted ${kind} ${userId} in the meantime`;
  }
}
