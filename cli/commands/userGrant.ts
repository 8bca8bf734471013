import { confirmationOutdated } from '../../shared/errors/commandErrors.ts';
import type { UserGrant } from '../accounts/userGrants.ts';
import { defineInstanceCommand, flag, optional, required, toList } from '../terminal/command.ts';
import { counted } from '../terminal/numberTexts.ts';
import { askConfirmation } from '../terminal/questions.ts';
import { section } from '../terminal/terminal.ts';
import { runAlone } from './runAlone.ts';

const user = required('USER_ID', 'the person or service user');
const org = optional(
  'ORG_ID',
  'only grants that this organisation has given; by default the grants of all organisations',
);

export const userGrantListCommand = defineInstanceCommand({
  name: 'user-grant list',
  summary: "list a user's roles in projects",
  arguments: [],
  options: { user, org },
  examples: ['user-grant list --user 330000000000000201 --data ./north'],
  run: async ({ store, options: { user: userId, org: orgId } }) => {
    const { listUserGrants } = await import('../accounts/userGrants.ts');
    return toList('grants', listUserGrants(store, { userId, orgId }), {
      user: (grant) => grant.userId,
      organisation: (grant) => grant.orgId,
      project: ({ projectId }) => projectId,
      roles: ({ roles }) => roles.join(','),
    });
  },
});

export const userGrantRemoveCommand = defineInstanceCommand({
  name: 'user-grant remove',
  summary: "revoke a user's roles in a project",
  isAudited: true,
  arguments: [],
  options: { user, project: required('PROJECT_ID', 'the project'), org, yes: flag('skip the confirmation') },
  examples: ['user-grant remove --user 330000000000000201 --project 330000000000000401 --data ./north'],
  run: async (call) => {
    const { user: userId, project: projectId, org: orgId } = call.options;
    const { findUserGrants, listUserGrants, removeUserGrants } = await import('../accounts/userGrants.ts');
    const selection = { userId, projectId, orgId };
    const grants = await findUserGrants(call.store, selection);
    const what = section('Removes these grants', grants.map(grantText));
    if (!(await askConfirmation('Remove?', call, what))) {
      const text = [...what, 'nothing is removed: add --yes'];
      return { json: { grants, removed: 0 }, text, exitStatus: () => 'unconfirmed' };
    }
    const interruption = 'interrupted: some or all grants may already be removed; repeat the command';
    const removed = await runAlone(
      { name: 'user-grant remove', phase: 'removing', interruption },
      call,
      async (store) => {
        if (!call.options.yes) requireConfirmed(grants, await Array.fromAsync(listUserGrants(store, selection)));
        return await removeUserGrants(store, selection);
      },
    );
    const text = [...removed.map(grantText), `${counted(removed.length, 'grant')} removed`];
    return { json: { grants: removed, removed: removed.length }, text };
  },
});

/**
 * Requires that no grants were added or changed after the user's confirmation.
 * @throws IdentityError CONFIRMATION_OUTDATED
 */
function requireConfirmed(confirmed: readonly UserGrant[], present: readonly UserGrant[]): void {
  const texts = new Set(confirmed.map(grantText));
  const added = present.find((grant) => !texts.has(grantText(grant)));
  if (added !== undefined)
    throw confirmationOutdated({ added: `grants of user ${added.userId} were added or changed` });
}

function grantText({ userId, orgId, projectId, roles }: UserGrant): string {
  const held = roles.length === 0 ? 'without roles' : roles.join(', ');
  return `${userId} in project ${projectId}, given by organisation ${orgId}: ${held}`;
}
