import type { RecordIssue, Reference, UniqueName } from '../../shared/organisation/relations.ts';
import type { Section } from '../../shared/organisation/section.ts';
import { projectGrantSection, rolesInUse } from '../../shared/organisation/sections/grants.ts';
import { ownState } from '../../shared/organisation/sections/users.ts';
import { organisationSection, organisationState, sections } from '../../shared/organisation/sections.ts';
import { type Condition, checkErrors } from './checkErrors.ts';

/** A row of the documentation: an error that an import can report for a record. */
export interface RecordError extends RecordIssue {
  readonly section: string;
  readonly type: string;
  readonly when: string;
}

/** Collects the errors that an import can report, from the table of sections, in its order. */
export function recordErrors(): RecordError[] {
  return [organisationSection, ...sections].flatMap((section) =>
    mergeConditions([
      { ...section.error.exists, when: EXISTS },
      ...(section.unique ?? []).map(takenName),
      ...(section.references ?? []).flatMap(brokenReferences),
      ...(section.reserved ?? []).map(({ reserved, type, suffixOf }) => ({
        ...reserved,
        when: `The part of \`${suffixOf}\` behind the last \`@\` is a ${type} of another organisation.`,
      })),
      ...keptState(section),
      ...rolesInUseCondition(section),
      ...checkErrors(section),
    ]).map((condition) => ({ section: section.name, type: section.error.type, ...condition })),
  );
}

/** Merges the conditions of equal errors. */
function mergeConditions(conditions: readonly Condition[]): Condition[] {
  const byMessage = new Map<string, Condition>();
  for (const condition of conditions) {
    const message = `${condition.id} ${condition.key}`;
    const known = byMessage.get(message);
    const when = known === undefined ? condition.when : `${known.when} ${condition.when}`;
    byMessage.set(message, { ...condition, when });
  }
  return [...byMessage.values()];
}

const EXISTS = 'The record exists with other content, belongs to another organisation, or is in the file twice.';

function keptState(section: Section): Condition[] {
  const leftAlone = 'and would change the state with `on_conflict: overwrite`; it is left alone.';
  if (section === organisationSection) return [{ ...organisationState, when: `The organisation exists, ${leftAlone}` }];
  if (section.collection !== 'users') return [];
  return [{ ...ownState, when: `The record is the calling user’s own, ${leftAlone}` }];
}

function rolesInUseCondition(section: Section): Condition[] {
  if (section !== projectGrantSection) return [];
  const when =
    'The record has fewer roles than the stored one, and user grants through it use the others; it is left alone. Remove the roles from the user grants first. Or the stored record, equal to this one, lacks roles that user grants through it use.';
  return [{ ...rolesInUse, when }];
}

function takenName({ parts, taken, lookAlikes, onlyIf, perOrganisationByDomainPolicy }: UniqueName): Condition {
  const fields = parts.filter((part) => part !== '$orgId').map((part) => `\`${part}\``);
  // A claim without a name settles the scope of the organisation's login names.
  if (fields.length === 0) return { ...taken, when: `\`${onlyIf}\` is true, and the organisation has users already.` };
  const within = parts.includes('$orgId') ? ' of the organisation' : '';
  const policy = perOrganisationByDomainPolicy
    ? '; where its login names carry its domain, only those of the organisation count'
    : '';
  const alike = lookAlikes === true ? ' or one that looks alike' : '';
  const restriction = onlyIf === undefined ? '' : `, and \`${onlyIf}\` is true in both`;
  return {
    ...taken,
    when: `Another record${within} has the same ${fields.join(' and ')}${alike}${restriction}${policy}.`,
  };
}

function brokenReferences(reference: Reference): Condition[] {
  const { collection, key, missing, missingBesideOwn, ifForeign, openTo, ifOwn, keptIfMissing } = reference;
  const target = `\`${key.at(-1)?.replace('[]', '')}\` refers to ${elementNoun(collection)}`;
  const unless = openTo === undefined ? '' : `, and whose \`${openTo}\` is not this one either`;
  const foreign: Condition[] =
    typeof ifForeign === 'object' && ifForeign !== missing
      ? [{ ...ifForeign, when: `${target} that belongs to another organisation${unless}.` }]
      : [];
  const absence =
    keptIfMissing === undefined
      ? `that does not exist${ifForeign === missing ? ' in the organisation' : ''}`
      : 'of another organisation, or is empty; one that does not exist is kept with a warning';
  return [
    { ...missing, when: `${target} ${absence}.` },
    ...(missingBesideOwn === undefined ? [] : [missingBesideOwnCondition(target, missingBesideOwn)]),
    ...foreign,
    ...(ifOwn === undefined ? [] : [{ ...ifOwn, when: `${target} that belongs to the same organisation.` }]),
  ];
}

function missingBesideOwnCondition(
  target: string,
  { collection, issue }: NonNullable<Reference['missingBesideOwn']>,
): Condition {
  const beside = elementNoun(collection).replace(/^an? /, '');
  return { ...issue, when: `${target} that is none for the organisation, which owns the ${beside}.` };
}

/** Returns a collection's element in words: `an identity provider`. */
function elementNoun(collection: string): string {
  const noun = collection.replace(/s$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`;
}
