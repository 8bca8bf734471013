import { existingUser } from '../../shared/accounts/existingUser.ts';
import { changeRole } from '../../shared/accounts/members.ts';
import { type Invocation, type Run, required } from '../command.ts';

async function change(invocation: Invocation, kind: 'add' | 'remove') {
  const { store, now } = invocation;
  const userId = required(invocation, 'user');
  const role = required(invocation, 'role');
  await existingUser(store, userId, ['orgId']);
  await changeRole(store, { userId, orgId: invocation.options.org }, role, kind, now);
  return { json: { userId, role }, text: `${userId} ${kind === 'add' ? 'now holds' : 'no longer holds'} ${role}` };
}

/** `identity member add`. */
export const memberAdd: Run = (invocation) => change(invocation, 'add');

/** `identity member remove`. */
export const memberRemove: Run = (invocation) => change(invocation, 'remove');
