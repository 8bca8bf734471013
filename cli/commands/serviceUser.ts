import { createServiceUser, deleteServiceUser } from '../../shared/accounts/serviceUsers.ts';
import { argument, type Command } from '../command.ts';

/** `identity service-user create`. */
export const serviceUserCreate: Command = {
  name: 'service-user create',
  usage: '[--org ID] NAME',
  summary: 'make a service user, in the default organisation unless told otherwise',
  options: { org: { type: 'string' } },
  positionals: 1,
  async run(invocation) {
    const { store, options, now } = invocation;
    const userId = await createServiceUser(store, argument(invocation, 0), options.org, now);
    return { json: { userId }, text: `service user ${userId}` };
  },
};

/** `identity service-user delete`. */
export const serviceUserDelete: Command = {
  name: 'service-user delete',
  usage: 'USER_ID',
  summary: 'delete a service user with its tokens and memberships',
  options: {},
  positionals: 1,
  async run(invocation) {
    const userId = argument(invocation, 0);
    await deleteServiceUser(invocation.store, userId);
    return { json: { userId }, text: `service user ${userId} is deleted` };
  },
};
