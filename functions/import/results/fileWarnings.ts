// Warnings about the request and the file of an import as a whole.

import { warn } from '../../../shared/errors/warnings.ts';
import type { Inspection } from '../../../shared/exportFile/inspection.ts';
import type { IgnoredField } from '../../../shared/exportFile/manifest.ts';
import type { ImportWarning } from '../contract.ts';

/** The warning of a file without a manifest. */
const unproved: ImportWarning = { type: 'manifest', ...warn('manifest_missing', {}) };

/** Returns the warnings about the states that a file lacks. */
export function stateWarnings({
  unknownStates,
  initialPeople,
}: Pick<Inspection, 'unknownStates' | 'initialPeople'>): ImportWarning[] {
  return [
    ...(unknownStates === undefined ? [] : [{ type: 'state', ...warn('states_unknown', { ...unknownStates }) }]),
    ...(initialPeople === 0 ? [] : [{ type: 'state', ...warn('people_initial', { people: initialPeople }) }]),
  ];
}

/** Returns the warnings about a whole file. */
export function fileWarnings(
  inspection: Pick<Inspection, 'proved' | 'unknownStates' | 'initialPeople'>,
): ImportWarning[] {
  return [...(inspection.proved ? [] : [unproved]), ...stateWarnings(inspection)];
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
  return length === 0 ? [] : [{ type: 'domain_policy', ...warn('login_names_differ', { organisations: length }) }];
}

/** Creates the warning of a field of the request that the service does not know. */
export function ignoredWarning({ field, nearest }: IgnoredField): ImportWarning {
  return { type: 'request', id: field, ...warn('field_ignored', { nearest }) };
}
