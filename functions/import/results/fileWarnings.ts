// Warnings about the request and the file of an import as a whole.

import type { Inspection } from '../../../shared/exportFile/inspection.ts';
import type { IgnoredField } from '../../../shared/exportFile/manifest.ts';
import type { UnknownStates } from '../../../shared/exportFile/organisationDraft.ts';
import type { ImportWarning } from '../contract.ts';

/** The warning of a file without a manifest. */
const unproved: ImportWarning = {
  type: 'manifest',
  reason: 'manifest_missing',
  message: 'the file has no manifest: its completeness cannot be verified',
};

/** The warning of a page of an export that is not the last one. */
const continued: ImportWarning = {
  type: 'manifest',
  reason: 'page_continued',
  message: 'the file is a page of an export, and others follow: `identity export` joins all pages to one file',
};

/** Creates the warning of a file without states. */
function unknownStatesWarning({ organisations, people, serviceUsers }: UnknownStates): ImportWarning {
  const counts = `organisations: ${organisations}, people: ${people}, service users: ${serviceUsers}`;
  const message = `unknown states: the file has none (${counts}); each counts as active, or as initial, even if it is deactivated or locked at the source: deactivate it in the target`;
  return { type: 'state', reason: 'states_unknown', message };
}

/** Creates the warning of people who become initial although the file does not state it. */
function initialWarning(people: number): ImportWarning {
  const message = `people who become initial: ${people}; the file has no state for them, and their e-mail addresses are unverified: set \`isEmailVerified\` where the source has verified the address, or \`state\``;
  return { type: 'state', reason: 'people_initial', message };
}

/** Returns the warnings about the states that a file lacks. */
export function stateWarnings({
  unknownStates,
  initialPeople,
}: Pick<Inspection, 'unknownStates' | 'initialPeople'>): ImportWarning[] {
  return [
    ...(unknownStates === undefined ? [] : [unknownStatesWarning(unknownStates)]),
    ...(initialPeople === 0 ? [] : [initialWarning(initialPeople)]),
  ];
}

/** Returns the warnings about a whole file. */
export function fileWarnings(
  inspection: Pick<Inspection, 'proved' | 'manifest' | 'unknownStates' | 'initialPeople'>,
): ImportWarning[] {
  return [
    ...(inspection.proved ? [] : [unproved]),
    ...(inspection.manifest?.nextPageToken === undefined ? [] : [continued]),
    ...stateWarnings(inspection),
  ];
}

/**
 * Returns the warning that the exporting instance adds the organisation's domain to login names by default, and the
 * importing one does not, if the file has organisations that depend on it.
 * @param byDefault whether the importing instance adds the domain to the login names of an organisation without a policy
 */
export function loginNameWarnings(
  { manifest, organisations }: Pick<Inspection, 'manifest' | 'organisations'>,
  byDefault: boolean,
): ImportWarning[] {
  if (manifest?.userLoginMustBeDomain !== true || byDefault) return [];
  const { length } = organisations.filter(
    ({ hasLoginNames, validatesDomains }) => hasLoginNames && validatesDomains === undefined,
  );
  const message = `organisations without a domain policy: ${length}; the default of the exporting instance is \`userLoginMustBeDomain\`, and this instance lacks it: if several organisations have a user of the same name, only one of these users is imported. Add a domain policy to these organisations, or import into an instance that \`identity init --user-login-must-be-domain\` created`;
  return length === 0 ? [] : [{ type: 'domain_policy', reason: 'login_names_differ', message }];
}

/** Creates the warning of a field of the request that the service does not know. */
export function ignoredWarning({ field, nearest }: IgnoredField): ImportWarning {
  const remedy = nearest === undefined ? '' : `: the nearest known field is ${nearest}`;
  const message = `unknown field of the request, ignored${remedy}`;
  return { type: 'request', id: field, reason: 'field_ignored', message };
}
