import { knownRoles } from '../../shared/organisation/roles.ts';
import {
  type CommandCall,
  defineInstanceCommand,
  flag,
  type OpenInstance,
  optional,
  required,
  toList,
} from '../terminal/command.ts';

const membership = {
  user: required('USER_ID', 'the person or service user'),
  role: required('ROLE', `one of ${[...knownRoles('instance'), ...knownRoles('organisation')].join(', ')}`),
  org: optional('ORG_ID', 'the organisation; by default the instance'),
};

export const memberAddCommand = defineInstanceCommand({
  name: 'member add',
  summary: 'grant a user a role on the instance or an organisation',
  isAudited: true,
  arguments: [],
  options: membership,
  examples: [
    'member add --user 330000000000000301 --role IAM_OWNER --data ./north',
    'member add --user 330000000000000201 --role ORG_OWNER --org 330000000000000001 --data ./north',
  ],
  run: (call) => changeMembership(call, 'add', false),
});

export const memberRemoveCommand = defineInstanceCommand({
  name: 'member remove',
  summary: "revoke a user's role on the instance or an organisation",
  isAudited: true,
  arguments: [],
  options: { ...membership, force: flag("revoke even the last IAM_OWNER's role") },
  examples: ['member remove --user 330000000000000301 --role IAM_OWNER --data ./north'],
  run: (call) => changeMembership(call, 'remove', call.options.force),
});

async function changeMembership(
  { options: { user, role, org }, store, now }: CommandCall<readonly [], typeof membership> & OpenInstance,
  kind: 'add' | 'remove',
  isForced: boolean,
) {
  const { changeRole } = await import('../../shared/accounts/memberships.ts');
  await changeRole(store, { userId: user, orgId: org }, role, kind, now, isForced);
  return { json: { userId: user, role }, text: `${user} ${kind === 'add' ? 'now holds' : 'no longer holds'} ${role}` };
}

export const memberListCommand = defineInstanceCommand({
  name: 'member list',
  summary: 'list the holders of roles',
  arguments: [],
  options: { org: optional('ORG_ID', 'the organisation; by default the instance and all organisations') },
  examples: ['member list --data ./north'],
  run: async ({ store, options }) => {
    const { listMembers } = await import('../accounts/listing.ts');
    return toList('members', listMembers(store, options.org), {
      user: ({ userId }) => userId,
      organisation: ({ orgId }) => orgId ?? 'instance',
      roles: ({ roles }) => roles.join(','),
    });
  },
});
