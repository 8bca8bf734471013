import { createServiceUser, deleteServiceUser } from '../../shared/accounts/serviceUsers.ts';
import { argument, type Run } from '../command.ts';

/** `identity service-user create`. */
export const serviceUserCreate: Run = async (invocation) => {
  const { store, options, now } = invocation;
  const userId = await createServiceUser(store, argument(invocation, 0), options.org, now);
  return { json: { userId }, text: `service user ${userId}` };
};

/** `identity service-user delete`. */
export const serviceUserDelete: Run = async (invocation) => {
  const userId = argument(invocation, 0);
  await deleteServiceUser(invocation.store, userId);
  return { json: { userId }, text: `service user ${userId} is deleted` };
};
