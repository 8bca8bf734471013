import { changeRole } from '../../shared/accounts/members.ts';
import { existingUser } from '../../shared/accounts/users.ts';
import type { Command, Invocation } from '../command.ts';
import { required } from '../command.ts';

const options = { user: { type: 'string' }, role: { type: 'string' }, org: { type: 'string' } } as const;
const usage = '--user ID --role ROLE [--org ID]';

async function change(invocation: Invocation, kind: 'add' | 'remove') {
  const { store, now } = invocation;
  const userId = required(invocation, 'user');
  const role = required(invocation, 'role');
  await existingUser(store, userId, ['orgId']);
  await changeRole(store, { userId, orgId: invocation.options.org }, role, kind, now);
  return { json: { userId, role }, text: `${userId} ${kind === 'add' ? 'now holds' : 'no longer holds'} ${role}` };
}

/** `identity member add`. */
export const memberAdd: Command = {
  name: 'member add',
  usage,
  summary: 'give a user a role on the instance, or with --org on an organisation',
  options,
  positionals: 0,
  run: (invocation) => change(invocation, 'add'),
};

/** `identity member remove`. */
export const memberRemove: Command = {
  name: 'member remove',
  usage,
  summary: 'take the role away again',
  options,
  positionals: 0,
  run: (invocation) => change(invocation, 'remove'),
};
