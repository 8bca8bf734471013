import {
  describeRemoval,
  type RemovableOrganisation,
  removeOrganisations,
} from '../../shared/accounts/organisationRemoval.ts';
import { InterruptedError, type Run, UsageError } from '../command.ts';
import { askConsent } from '../consent.ts';

/** Bounds the commits that begin and end a removal, which have all organisations. */
const MAX_ORGANISATIONS = 200;

/** Runs `identity org delete`. */
export const orgDelete: Run = async (invocation) => {
  const { positionals, store, flags, signal } = invocation;
  const orgIds = [...new Set(positionals)];
  if (orgIds.length > MAX_ORGANISATIONS)
    throw new UsageError(
      `${orgIds.length} organisations: specify at most ${MAX_ORGANISATIONS}, and repeat the command`,
    );
  const organisations = await describeRemoval(store, orgIds);
  const lines = organisations.map(describe);
  const question = `Delete with all their records, and everything that others have because of them?\n${lines.join('\n')}`;
  if (!flags.has('yes') && !(await askConsent(question, invocation))) {
    const text = `would delete, with everything that others have because of them:\n${lines.join('\n')}\nnothing is deleted: add --yes`;
    return { json: { organisations, deleted: false }, text, ending: () => 'consentMissing' };
  }
  try {
    const records = await removeOrganisations(store, orgIds, signal);
    const text = [...lines, `${records} records are deleted`].join('\n');
    return { json: { organisations, deleted: true, records }, text };
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new InterruptedError('interrupted: the organisations are deleted in part; repeat the command to continue');
  }
};

function describe({ orgId, name, people, serviceUsers }: RemovableOrganisation): string {
  return [orgId, name, `${people} people`, `${serviceUsers} service users`].join('\t');
}
