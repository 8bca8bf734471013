import type { Organisation } from '../support/fixtures/organisations.ts';
import { type ModelRecord, placeOf, textAt } from './kinds.ts';
import { type Model, nameOf, type Options } from './model.ts';
import { readFile } from './modelFile.ts';

/** The faults that the steps avoid while they stand. */
export const known: Readonly<Record<KnownFault, boolean>> = {
  rightsSurviveDeletion: false,
  memberOfMissingOrganisation: false,
  domainPolicyLaterThanUsers: false,
  organisationInTwoEntries: false,
  duplicateKeys: false,
  renamesHangOnTheirOrder: false,
  overwriteIntoForeignDomain: false,
  missingState: false,
  deletionBetweenTwoCalls: false,
  organisationStateIsIgnored: false,
  recordsFailWithOrganisationWhoseNewNameIsTaken: false,
  skipHidesReports: true,
  grantOfAnotherProjectIsAccepted: true,
  organisationsAreNotCounted: false,
};

type KnownFault =
  | 'rightsSurviveDeletion'
  | 'memberOfMissingOrganisation'
  | 'domainPolicyLaterThanUsers'
  | 'organisationInTwoEntries'
  | 'duplicateKeys'
  | 'renamesHangOnTheirOrder'
  | 'overwriteIntoForeignDomain'
  | 'missingState'
  | 'deletionBetweenTwoCalls'
  | 'organisationStateIsIgnored'
  | 'recordsFailWithOrganisationWhoseNewNameIsTaken'
  | 'skipHidesReports'
  | 'grantOfAnotherProjectIsAccepted'
  | 'organisationsAreNotCounted';

/** Whether an import meets none of the known faults. */
export function avoids(model: Model, orgs: readonly Organisation[], options: Options): boolean {
  const records = readFile(orgs).flatMap((entry) => entry.records);
  const after = model.clone();
  const outcomes = after.import(orgs, options);
  const isOverwriting = options.onConflict === 'overwrite';
  const failed = new Set(outcomes.flatMap(({ error }) => (error === undefined ? [] : [`${error.type} ${error.id}`])));
  const cannotRename = (one: ModelRecord) =>
    one.section === 'org' && model.has('organisation', one.orgId) && failed.has(`org ${one.orgId}`);
  return !(
    (known.domainPolicyLaterThanUsers &&
      records.some((one) => model.changesScope(one) && !model.has('policy', one.orgId))) ||
    (known.organisationsAreNotCounted &&
      outcomes.some(({ section, kind }) => section === 'org' && kind === 'unchanged') &&
      readFile(orgs).some(({ hasName }) => !hasName)) ||
    hasOpenOutcome(model, after, records) ||
    (known.renamesHangOnTheirOrder && isOverwriting && exchangesNames(records, model, after)) ||
    (known.overwriteIntoForeignDomain &&
      isOverwriting &&
      records.some((one) => entersForeignDomain(one, model, after))) ||
    (known.recordsFailWithOrganisationWhoseNewNameIsTaken && isOverwriting && records.some(cannotRename)) ||
    (known.skipHidesReports && options.onConflict === 'skip' && records.some((one) => isReported(one, model, after))) ||
    (known.grantOfAnotherProjectIsAccepted && records.some((one) => isOfOtherGrant(one, after)))
  );
}

/** Whether a record takes a name that the same import takes from its holder. */
function exchangesNames(records: readonly ModelRecord[], model: Model, after: Model): boolean {
  const holders = new Map([...model.records].map(([place, one]) => [nameOf(one, model), place]));
  const byPlace = new Map(records.map((one) => [placeOf(one), one]));
  return records.some((one) => {
    const holder = holders.get(nameOf(one, after)) ?? placeOf(one);
    const renamed = byPlace.get(holder);
    return holder !== placeOf(one) && renamed !== undefined && nameOf(renamed, after) !== nameOf(one, after);
  });
}

function entersForeignDomain(record: ModelRecord, model: Model, after: Model): boolean {
  const stored = model.records.get(placeOf(record));
  if (stored === undefined || textAt(stored, 'user.userName') === textAt(record, 'user.userName')) return false;
  return after.isInForeignDomain(record);
}

/** Whether a record that exists with other content has a name or a scope that is reported under every option. */
function isReported(record: ModelRecord, model: Model, after: Model): boolean {
  if (!model.records.has(placeOf(record))) return false;
  const name = nameOf(record, after);
  const isTaken = [...after.records].some(([place, one]) => place !== placeOf(record) && nameOf(one, after) === name);
  return model.changesScope(record) || (name !== undefined && isTaken);
}

function isOfOtherGrant(record: ModelRecord, after: Model): boolean {
  if (record.section !== 'projectGrantMembers') return false;
  const grant = after.find('projectGrant', textAt(record, 'grantId'));
  return grant !== undefined && textAt(grant, 'projectGrant.projectId') !== textAt(record, 'projectId');
}

/** Whether the specification leaves open what becomes of a record: who gets a name, or whether a scope is settled. */
function hasOpenOutcome(model: Model, after: Model, records: readonly ModelRecord[]): boolean {
  const wanted = records.map((one) => nameOf(one, after)).filter((name) => name !== undefined);
  const contended = new Set(wanted.filter((name, index) => wanted.indexOf(name) !== index));
  const released = records.some((one) => {
    const stored = model.records.get(placeOf(one));
    const name = stored === undefined ? undefined : nameOf(stored, model);
    return name !== undefined && name !== nameOf(one, after) && contended.has(name);
  });
  const isUnsure = ({ section, orgId }: ModelRecord) =>
    section === 'domainPolicy' && model.scopes.get(orgId) === 'unsure';
  return released || records.some(isUnsure);
}
