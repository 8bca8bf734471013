import { formatDuration } from '../duration.ts';
import { type RecordWarning, warn } from '../errors/warnings.ts';
import type { Inspection } from './inspection.ts';
import type { IgnoredField } from './manifest.ts';

type FileWarning = RecordWarning & { readonly type: string; readonly id?: string };

const unproved: FileWarning = { type: 'manifest', ...warn('manifest_missing', {}) };

export function stateWarnings({
  unknownStates,
  initialPeople,
}: Pick<Inspection, 'unknownStates' | 'initialPeople'>): FileWarning[] {
  return [
    ...(unknownStates === undefined ? [] : [{ type: 'state', ...warn('states_unknown', { ...unknownStates }) }]),
    ...(initialPeople === 0 ? [] : [{ type: 'state', ...warn('people_initial', { people: initialPeople }) }]),
  ];
}

export function fileWarnings(
  inspection: Pick<Inspection, 'proved' | 'unknownStates' | 'initialPeople'>,
): FileWarning[] {
  return [...(inspection.proved ? [] : [unproved]), ...stateWarnings(inspection)];
}

/**
 * Warns if login names of organisations without a domain policy would change. They change if the exporting instance
 * adds the domain to login names by default, but the importing instance does not.
 * @param byDefault whether the importing instance adds the domain to login names if an organisation has no domain
 *   policy
 */
export function loginNameWarnings(
  { manifest, organisations }: Pick<Inspection, 'manifest' | 'organisations'>,
  byDefault: boolean,
): FileWarning[] {
  if (manifest?.userLoginMustBeDomain !== true || byDefault) return [];
  const { length } = organisations.filter(
    ({ hasLoginNames, validatesDomains }) => hasLoginNames && validatesDomains === undefined,
  );
  return length === 0 ? [] : [{ type: 'domain_policy', ...warn('login_names_differ', { organisations: length }) }];
}

export function ignoredWarning({ field, nearest }: IgnoredField): FileWarning {
  return { type: 'request', id: field, ...warn('field_ignored', { nearest }) };
}

export function timeoutWarning(neededMs: number, leftMs: number): FileWarning {
  const [needed = '', left = ''] = [neededMs, leftMs].map((ms) => formatDuration(Math.ceil(ms / 1_000) * 1_000));
  return { type: 'request', ...warn('timeout_expected', { needed, left }) };
}
