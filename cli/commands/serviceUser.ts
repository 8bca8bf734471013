import { defineInstanceCommand, flag, optional, required } from '../command.ts';

export const serviceUserCreate = defineInstanceCommand({
  name: 'service-user create',
  summary: 'create a service user',
  instance: 'existing',
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

export const serviceUserDelete = defineInstanceCommand({
  name: 'service-user delete',
  summary: 'delete a service user with its tokens, memberships and grants; repeat the command if it was interrupted',
  instance: 'existing',
  isAudited: true,
  arguments: [required('USER_ID', 'the service user')],
  options: { force: flag('also the last IAM_OWNER') },
  examples: ['service-user delete 330000000000000301 --data ./north'],
  run: async ({ arguments: [userId], options, store }) => {
    const { deleteServiceUser } = await import('../../shared/accounts/serviceUsers.ts');
    await deleteServiceUser(store, userId, options.force);
    return { json: { userId }, text: `service user ${userId} is deleted` };
  },
});
