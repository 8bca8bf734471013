import { withoutEmpty } from '../../shared/defined.ts';
import { confirmationOutdated } from '../../shared/errors/commandErrors.ts';
import type { RemovableOrganisation } from '../accounts/organisationRemoval.ts';
import { defineInstanceCommand, flag, oneOrMore, toList, usageError } from '../terminal/command.ts';
import { counted, named } from '../terminal/numberTexts.ts';
import { askConfirmation } from '../terminal/questions.ts';
import { section } from '../terminal/terminal.ts';
import { runAlone } from './runAlone.ts';

export const orgListCommand = defineInstanceCommand({
  name: 'org list',
  summary: 'list the organisations: id, state and name',
  arguments: [],
  options: {},
  examples: ['org list --data ./north'],
  run: async ({ store }) => {
    const { listOrganisations } = await import('../accounts/listing.ts');
    return toList('organisations', listOrganisations(store), {
      id: ({ orgId }) => orgId,
      state: ({ state }) => state,
      name: ({ name }) => name,
    });
  },
});

/**
 * The maximum number of organisations in one call. They must fit into one commit, because the first and the last commit
 * of a deletion contain all of them.
 */
const MAX_DELETED_ORGANISATIONS = 200;

export const orgDeleteCommand = defineInstanceCommand({
  name: 'org delete',
  summary: 'delete organisations with all their records',
  details:
    "To undo a migration, delete the organisations that it moved. The command also deletes the users' tokens, and the roles and grants of these users in other organisations. The instance can keep running. If the command was interrupted, repeat it.",
  isAudited: true,
  arguments: [oneOrMore('ORG_ID', `the organisations, at most ${MAX_DELETED_ORGANISATIONS}`)],
  options: { yes: flag('skip the confirmation') },
  examples: ['org delete 330000000000000001 330000000000000002 --data ./north'],
  run: async (call) => {
    const {
      arguments: [requestedIds],
      store,
    } = call;
    const orgIds = [...new Set(requestedIds)];
    if (orgIds.length > MAX_DELETED_ORGANISATIONS)
      throw usageError(
        `${counted(orgIds.length, 'organisation')} are too many: specify at most ${MAX_DELETED_ORGANISATIONS}, then repeat the command for the others`,
      );
    const { describeRemoval, findMissing, removeOrganisations } = await import('../accounts/organisationRemoval.ts');
    const organisations = await describeRemoval(store, orgIds);
    const lines = organisations.map(organisationText);
    const what = section(
      'Deletes these organisations with all their records, and the records of other organisations that depend on them',
      lines,
    );
    if (!(await askConfirmation('Delete?', call, what))) {
      const text = [...what, 'nothing is deleted: add --yes'];
      return { json: { organisations, deleted: false }, text, exitStatus: () => 'unconfirmed' };
    }
    const interruption =
      'interrupted: some records of the organisations may already be deleted; repeat the command to delete the rest';
    const { records, gone } = await runAlone(
      { name: 'org delete', phase: 'deleting', interruption },
      call,
      async (locked, onDone, signal) => {
        const missing = await findMissing(locked, orgIds);
        const present = orgIds.filter((orgId) => !missing.includes(orgId));
        if (!call.options.yes) requireConfirmed(organisations, await describeRemoval(locked, present));
        return {
          records: present.length === 0 ? 0 : await removeOrganisations(locked, present, signal, onDone),
          gone: missing,
        };
      },
    );
    const goneLines = gone.map((orgId) => `another command has deleted ${orgId} in the meantime`);
    return {
      json: { organisations, deleted: true, records, ...withoutEmpty({ deletedMeanwhile: gone }) },
      text: [...lines, ...goneLines, `${counted(records, 'record')} deleted`],
    };
  },
});

/**
 * Requires that the organisations to delete have no more users than the caller has confirmed.
 * @throws IdentityError CONFIRMATION_OUTDATED
 */
function requireConfirmed(
  confirmed: readonly RemovableOrganisation[],
  present: readonly RemovableOrganisation[],
): void {
  for (const { orgId, people, serviceUsers } of present) {
    const before = confirmed.find((organisation) => organisation.orgId === orgId);
    if (before !== undefined && people <= before.people && serviceUsers <= before.serviceUsers) continue;
    throw confirmationOutdated({ added: `users were added to organisation ${orgId}` });
  }
}

function organisationText({ orgId, name, people, serviceUsers }: RemovableOrganisation): string {
  return `${named(orgId, name)}: ${counted(people, 'person')}, ${counted(serviceUsers, 'service user')}`;
}
