import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../../shared/json/jsonObject.ts';
import { organisationUnnamed, recordSection } from '../../shared/organisation/allSections.ts';
import type { RecordIssue } from '../../shared/organisation/relations.ts';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { grantTo, rejectionOf, withValidRoles } from './judgement.ts';
import {
  isSingle,
  type ModelRecord,
  messageOf,
  nameOf,
  phaseOf,
  placeOf,
  reportedId,
  takenIssue,
  textAt,
  textsAt,
} from './kinds.ts';
import type { Model } from './model.ts';
import { comparedContent } from './modelContent.ts';
import { type Entry, readFile, type Stated, withState } from './modelFile.ts';
import { privilegeWarnings, stateWarnings, type Warning } from './modelWarnings.ts';

/** The options of an import that decide about records (specification 2.5). */
export interface Options {
  readonly onConflict: 'report' | 'skip' | 'overwrite' | 'fail';
  readonly withKeys: boolean;
  /** The places of the records of a file that is mirrored; undefined for other imports. */
  readonly mirrored?: ReadonlySet<string>;
}

/** Whether records that exist with other content are errors. */
export function reportsConflicts({ onConflict }: Options): boolean {
  return onConflict === 'report' || onConflict === 'fail';
}

/** The outcome of a record in an import (specification 2.9); a record of an unwritable organisation has no error. */
export interface Outcome {
  /** The record in the file; none for an organisation without a name. */
  readonly given?: ModelRecord;
  readonly section: string;
  readonly kind: 'created' | 'unchanged' | 'overwritten' | 'skipped' | 'failed' | 'notCarried';
  readonly error?: { readonly type: string; readonly id: string; readonly message: string };
  readonly warnings: readonly Warning[];
}

interface Decided {
  readonly given: ModelRecord;
  readonly record: ModelRecord;
  readonly kind: Outcome['kind'];
  readonly issue?: RecordIssue | undefined;
  /** Whether the record is an unverified domain that must not be primary. */
  readonly isRejected: boolean;
}

type Decision = Pick<Decided, 'kind' | 'issue'>;

/** The records of the file so far, and the ids of the project grants that are not carried. */
interface SoFar {
  readonly seen: Map<string, ModelRecord>;
  readonly leftOut: Set<string>;
}

export const phases = [0, 1, 2, 3, 4] as const;
type Phase = (typeof phases)[number];

/**
 * Imports a file into a model, and returns the outcome of each of its records (specification 6).
 * @param included the phases to import; all by default
 */
export function importFile(
  model: Model,
  orgs: readonly Organisation[],
  options: Options,
  stated: Stated = {},
  included: readonly Phase[] = phases,
): readonly Outcome[] {
  const entries = readFile(orgs, stated);
  const soFar: SoFar = { seen: new Map(), leftOut: new Set() };
  const validating = validatingOrganisations(model, entries);
  const primary = primaryDomains(model, entries, validating, options);
  const primaryBefore = new Set([...storedPrimaries(model).values()].map(primaryIdentity));
  const before = model.clone();
  return included.flatMap((phase) => {
    const organisations = new Map(entries.map((entry) => [entry.orgId, entry])).values();
    const nameless = phase === 0 ? [...organisations].flatMap((entry) => missingOrganisation(model, entry)) : [];
    const records = entries.flatMap((entry) => entry.records.filter((record) => phaseOf(record) === phase));
    if (phase === 2) settleScopes(model, records);
    const decided = records.map((given): Decided => {
      const isRejected = isPrimaryRejected(given, validating) && !primaryBefore.has(primaryIdentity(given));
      const isPrimary = !isRejected && primary.get(given.orgId) === placeOf(given);
      const completed = withProjectGrant(model, isPrimary ? given : withoutPrimary(given));
      const record = withValidRoles(withoutMissingTargets(model, completed));
      return { given, record, isRejected, ...decide(model, given, record, options, soFar) };
    });
    const outcomes = withTakenNames(model, decided, options.mirrored !== undefined);
    return [...nameless, ...outcomes.map((one) => apply(model, before, one))];
  });
}

/**
 * Decides a record as if names were free; the first of several with one key counts (specification 6.3).
 * @param given the record in the file
 */
function decide(
  model: Model,
  given: ModelRecord,
  record: ModelRecord,
  options: Options,
  { seen, leftOut }: SoFar,
): Decision {
  const { onConflict, withKeys, mirrored } = options;
  const { keys, error } = recordSection(record.section);
  const existing: Decision = { kind: 'failed', issue: error.exists };
  if (keys === true && !withKeys) return { kind: 'notCarried' };
  const stored = model.records.get(placeOf(record));
  if (record.section !== 'org' && !model.has('organisations', record.orgId)) return { kind: 'failed' };
  const first = seen.get(identityOf(given));
  if (first === undefined) seen.set(identityOf(given), given);
  const isAgain = isSingle(record.section) && first !== undefined && isDeepStrictEqual(first.json, given.json);
  if (first !== undefined && !reportsConflicts(options) && !isAgain) return existing;
  const rejection = rejectionOf(record, model, leftOut);
  if (rejection === 'notCarried') {
    if (record.section === 'projectGrants') leftOut.add(textAt(record, 'grantId'));
    return { kind: 'notCarried' };
  }
  // Only overwritten records keep a state that the file does not contain.
  const isUnchanged =
    stored !== undefined &&
    isOfSameKind(stored, record) &&
    isEqual(onConflict === 'overwrite' ? record : withState(record), stored, model);
  if (rejection !== undefined) return isUnchanged ? { kind: 'unchanged' } : { kind: 'failed', issue: rejection };
  if (first !== undefined && stored === undefined)
    return isAgain && !model.changesScope(record) ? { kind: 'unchanged' } : existing;
  if (stored === undefined) {
    if (model.isInForeignDomain(record)) return { kind: 'failed', issue: foreignDomain };
    return model.changesScope(record) ? existing : { kind: 'created' };
  }
  if (!isOfSameKind(stored, record)) return existing;
  if (isUnchanged) return { kind: 'unchanged' };
  if (reportsConflicts(options)) return existing;
  if (onConflict === 'skip') return { kind: 'skipped' };
  const obstacle = obstacleTo(model, record, stored, mirrored);
  if (obstacle !== undefined) return { kind: 'failed', issue: obstacle };
  return { kind: first === undefined ? 'overwritten' : 'unchanged' };
}

function isOfSameKind(one: ModelRecord, other: ModelRecord): boolean {
  return one.orgId === other.orgId && one.section === other.section;
}

const foreignDomain: RecordIssue = { id: 'COMMAND-SFd21', key: 'Errors.User.DomainNotAllowedAsUsername' };

/** The identity of a record within a file. User grants of one user are the same with and without a project grant's id. */
export function identityOf(record: ModelRecord): string {
  const { projectGrantId: _grantId, ...json } = record.json;
  const place = placeOf(record.section === 'userGrants' ? { ...record, json } : record);
  return record.section === 'projectMembers' ? `${place} of ${record.orgId}` : place;
}

/** The organisations whose domain policy validates domains, in the file or otherwise stored. */
function validatingOrganisations(model: Model, entries: readonly Entry[]): ReadonlySet<string> {
  const orgIds = [...new Set(entries.map(({ orgId }) => orgId))];
  const inFile = entries.flatMap(({ records }) => records.filter(({ section }) => section === 'domainPolicy'));
  const policies = new Map(inFile.toReversed().map((policy) => [policy.orgId, policy]));
  const policyOf = (orgId: string) => policies.get(orgId) ?? model.find('settings', orgId, 'domainPolicy');
  return new Set(orgIds.filter((orgId) => policyOf(orgId)?.json.validateOrgDomains === true));
}

function isPrimaryRejected({ section, orgId, json }: ModelRecord, validating: ReadonlySet<string>): boolean {
  return section === 'domains' && validating.has(orgId) && json.isPrimary === true && json.isVerified !== true;
}

/** The stored primary domains by their organisations. */
function storedPrimaries(model: Model): ReadonlyMap<string, ModelRecord> {
  const primary = model.ofSection('domains').filter(({ json }) => json.isPrimary === true);
  return new Map(primary.map((domain) => [domain.orgId, domain]));
}

/** A domain with the property that decides whether it may be primary. */
function primaryIdentity(domain: ModelRecord): string {
  return `${placeOf(domain)} ${domain.json.isVerified === true}`;
}

/**
 * The places of the organisations' primary domains: the stored domain, unless an overwrite moves the mark, or else the
 * last of several in a file (zitadel 2.5).
 */
function primaryDomains(
  model: Model,
  entries: readonly Entry[],
  validating: ReadonlySet<string>,
  { onConflict }: Options,
): ReadonlyMap<string, string> {
  const domains = entries.flatMap(({ records }) => records.filter(({ section }) => section === 'domains'));
  const marked = domains.filter(({ json }) => json.isPrimary === true);
  const lastMarked = new Map(marked.map((domain) => [domain.orgId, placeOf(domain)]));
  const possible = marked.filter((domain) => !isPrimaryRejected(domain, validating));
  const primary = new Map(possible.map((domain) => [domain.orgId, placeOf(domain)]));
  const places = new Set(domains.map(placeOf));
  for (const [orgId, stored] of storedPrimaries(model)) {
    const place = placeOf(stored);
    const isMoved = onConflict === 'overwrite' && places.has(place) && lastMarked.get(orgId) !== place;
    if (!isMoved) primary.set(orgId, place);
  }
  return primary;
}

function withoutPrimary(record: ModelRecord): ModelRecord {
  const { isPrimary: _superseded, ...json } = record.json;
  return record.section === 'domains' ? { ...record, json } : record;
}

/**
 * A user grant on a granted project with the project grant's id, which files may omit (zitadel 2.5); one on an own project
 * without the id of an unknown project grant.
 */
export function withProjectGrant(model: Model, record: ModelRecord): ModelRecord {
  if (record.section !== 'userGrants') return record;
  const [project, grantId] = [textAt(record, 'projectId'), textAt(record, 'projectGrantId')];
  if (grantId !== '') {
    const isNeedless = model.find('projects', project)?.orgId === record.orgId && !model.has('projectGrants', grantId);
    const { projectGrantId: _unset, ...json } = record.json;
    return isNeedless ? { ...record, json } : record;
  }
  const grant = grantTo(model, project, record.orgId);
  if (grant === undefined) return record;
  return { ...record, json: { ...record.json, projectGrantId: textAt(grant, 'grantId') } };
}

/**
 * A grant without the roles that its project or its project grant lacks, or a trigger without missing and repeated actions,
 * if others remain (zitadel 3.3).
 */
function withoutMissingTargets(model: Model, record: ModelRecord): ModelRecord {
  const { json } = record;
  if (record.section === 'triggerActions') {
    const actions = [...new Set(textsAt(record, 'actionIds[]'))];
    const own = actions.filter((action) => model.find('actions', action)?.orgId === record.orgId);
    const actionIds = own.length > 0 ? own : actions;
    return actionIds.length > 0 ? { ...record, json: { ...json, actionIds } } : record;
  }
  if (record.section === 'projectGrants') {
    const { projectGrant } = json;
    const roles = textsAt(record, 'projectGrant.roleKeys[]');
    const roleKeys = keptRoles(model, textAt(record, 'projectGrant.projectId'), roles);
    if (!isJsonObject(projectGrant) || roleKeys.length === 0) return record;
    return { ...record, json: { ...json, projectGrant: { ...projectGrant, roleKeys } } };
  }
  if (record.section !== 'userGrants') return record;
  const grant = model.find('projectGrants', textAt(record, 'projectGrantId'));
  const roleKeys = keptRoles(model, textAt(record, 'projectId'), textsAt(record, 'roleKeys[]')).filter(
    (role) => grant === undefined || textsAt(grant, 'projectGrant.roleKeys[]').includes(role),
  );
  return roleKeys.length > 0 ? { ...record, json: { ...json, roleKeys } } : record;
}

function keptRoles(model: Model, project: string, roles: readonly string[]): string[] {
  return roles.filter((role) => model.has('projectRoles', project, role));
}

/** The issue of a record that must not overwrite the stored one, or undefined. */
function obstacleTo(
  model: Model,
  record: ModelRecord,
  stored: ModelRecord,
  mirrored: ReadonlySet<string> = new Set(),
): RecordIssue | undefined {
  const keeps = (path: string) => textAt(record, path) === textAt(stored, path);
  const { error } = recordSection(record.section);
  const fixed = record.section === 'projectGrants' ? ['projectGrant.projectId', 'projectGrant.grantedOrgId'] : [];
  if (!fixed.every(keeps) || model.changesScope(record)) return error.exists;
  if (!keeps('user.userName') && model.isInForeignDomain(record)) return foreignDomain;
  if (record.section === 'org' && record.json.orgState !== undefined && !keeps('orgState'))
    return { id: 'IMPORT-orgState', key: 'Errors.Org.State' };
  return losesUsedRoles(model, record, mirrored)
    ? { id: 'IMPORT-rolesInUse', key: 'Errors.Project.Grant.RolesInUse' }
    : undefined;
}

/**
 * Whether a project grant has fewer roles than the user grants through it use.
 * @param mirrored the places of user grants that are written anew
 */
function losesUsedRoles(model: Model, record: ModelRecord, mirrored: ReadonlySet<string>): boolean {
  if (record.section !== 'projectGrants') return false;
  const granted = textsAt(record, 'projectGrant.roleKeys[]');
  return model
    .ofSection('userGrants')
    .some(
      (one) =>
        !mirrored.has(placeOf(one)) &&
        textAt(one, 'projectGrantId') === textAt(record, 'grantId') &&
        textsAt(one, 'roleKeys[]').some((role) => !granted.includes(role)),
    );
}

/** Fixes the scope of login names of organisations whose users an import begins to write. */
function settleScopes(model: Model, records: readonly ModelRecord[]): void {
  const users = records.filter(
    ({ section, orgId }) => recordSection(section).collection === 'users' && model.has('organisations', orgId),
  );
  for (const { orgId } of users) model.scopes.set(orgId, 'settled');
}

/**
 * Fails the records whose name another record holds at their turn: records take and release names one after the other.
 * @param isSimultaneous whether all release their names first
 */
function withTakenNames(model: Model, decided: readonly Decided[], isSimultaneous: boolean): readonly Decided[] {
  const holders = new Map([...model.records].map(([place, record]) => [nameOf(record, model), place]));
  for (const { record, kind } of isSimultaneous ? decided : []) {
    const stored = model.records.get(placeOf(record));
    if (kind === 'overwritten' && stored !== undefined) holders.delete(nameOf(stored, model));
  }
  return decided.map((one) => {
    const { record, kind } = one;
    if (kind !== 'created' && kind !== 'overwritten') return one;
    const [place, name] = [placeOf(record), nameOf(record, model)];
    const stored = model.records.get(place);
    const holder = name === undefined ? place : (holders.get(name) ?? place);
    if (holder !== place) return { ...one, kind: 'failed', issue: takenIssue(record) };
    if (stored !== undefined && !isSimultaneous) holders.delete(nameOf(stored, model));
    holders.set(name, place);
    return one;
  });
}

function apply(model: Model, before: Model, { given, record, kind, issue, isRejected }: Decided): Outcome {
  const { section, orgId } = record;
  const place = placeOf(record);
  const stored = model.records.get(place);
  const isWritten = kind === 'created' || kind === 'overwritten';
  const warnings = isWritten ? [...privilegeWarnings(record, stored, before), ...stateWarnings(record, stored)] : [];
  if (kind === 'created') model.records.set(place, { ...withState(record), factor: record.factor === true });
  if (kind === 'overwritten' && stored !== undefined) model.change(place, stored, merged(record, stored));
  const outcome = { given, section, kind, warnings };
  if (kind !== 'failed' && isRejected) return { ...outcome, error: primaryError(record) };
  const isLost = section !== 'org' && !model.has('organisations', orgId);
  if (kind !== 'failed' || isLost) return outcome;
  const { type } = recordSection(section).error;
  return { ...outcome, error: { type, id: reportedId(given), message: issue === undefined ? '' : messageOf(issue) } };
}

function primaryError(record: ModelRecord): NonNullable<Outcome['error']> {
  const message = 'ID=ORG-Ggd32 Message=Errors.Org.DomainNotVerified';
  return { type: 'domain_isprimary', id: reportedId(record), message };
}

function missingOrganisation(model: Model, { orgId, hasName }: Entry): Outcome[] {
  if (hasName) return [];
  if (model.has('organisations', orgId)) return [{ section: 'org', kind: 'unchanged', warnings: [] }];
  const error = { type: 'org', id: orgId, message: messageOf(organisationUnnamed) };
  return [{ section: 'org', kind: 'failed', error, warnings: [] }];
}

/** Whether a record equals the stored one: omitted values are not compared (specification 6.3). */
function isEqual(record: ModelRecord, stored: ModelRecord, model: Model): boolean {
  return comparedContent({ ...stored, ...merged(record, stored) }, model) === comparedContent(stored, model);
}

/** A record with the values that it keeps from the stored one: its credentials, factor and state. */
function merged(record: ModelRecord, stored: ModelRecord): Omit<ModelRecord, 'sequence'> {
  const { section, orgId, factor = stored.factor, lacks = [] } = record;
  const secrets = Object.fromEntries(Object.entries(stored.secrets).filter(([field]) => !lacks.includes(field)));
  const { state, orgState } = stored.json;
  const kept = Object.entries({ state, orgState }).filter(([, value]) => value !== undefined);
  const json = { ...Object.fromEntries(kept), ...record.json };
  return { section, orgId, json, secrets: { ...secrets, ...record.secrets }, factor };
}
