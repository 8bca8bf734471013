import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../../shared/json/jsonObject.ts';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { grantTo, kindOf, type ModelRecord, placeOf, textAt, textsAt } from './kinds.ts';
import { type Model, nameOf } from './model.ts';
import { type Entry, readFile, withState } from './modelFile.ts';

/** The options of an import that decide about records (specification 2.5). */
export interface Options {
  readonly onConflict: 'report' | 'skip' | 'overwrite';
  readonly withKeys: boolean;
}

/** The outcome of a record in an import (specification 2.9); a record of an unwritable organisation has no error. */
export interface Outcome {
  readonly section: string;
  readonly kind: 'created' | 'unchanged' | 'overwritten' | 'skipped' | 'failed' | 'notCarried';
  readonly error?: { readonly type: string; readonly id: string };
}

interface Decided {
  readonly record: ModelRecord;
  readonly kind: Outcome['kind'];
  /** Whether the record is an unverified domain that must not be primary. */
  readonly isRejected: boolean;
}

const phases = [0, 1, 2, 3, 4] as const;

/** Imports a file into a model, and returns the outcome of each of its records (specification 6). */
export function importFile(model: Model, orgs: readonly Organisation[], options: Options): readonly Outcome[] {
  const entries = readFile(orgs);
  const seen = new Map<string, ModelRecord>();
  const validating = validatingOrganisations(model, entries);
  const primary = lastPrimaryDomains(entries, validating);
  return phases.flatMap((phase) => {
    const organisations = new Map(entries.map((entry) => [entry.orgId, entry])).values();
    const nameless = phase === 0 ? [...organisations].flatMap((entry) => missingOrganisation(model, entry)) : [];
    const records = entries.flatMap((entry) => entry.records.filter(({ section }) => kindOf(section).phase === phase));
    if (phase === 2) settleScopes(model, records);
    const decided = records.map((given): Decided => {
      const isRejected = isPrimaryRejected(given, validating);
      const isPrimary = !isRejected && primary.get(given.orgId) === placeOf(given);
      const completed = withProjectGrant(model, isPrimary ? given : withoutPrimary(given));
      const record = withoutMissingRoles(model, completed);
      return { record, kind: decide(model, given, record, options, seen), isRejected };
    });
    const nameTaken = withTakenNames(model, decided);
    const outcomes = decided.map((one) => (nameTaken.has(one.record) ? { ...one, kind: 'failed' as const } : one));
    return [...nameless, ...outcomes.map((one) => apply(model, one))];
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
  { onConflict, withKeys }: Options,
  seen: Map<string, ModelRecord>,
): Outcome['kind'] {
  if (record.section === 'machineKeys' && !withKeys) return 'notCarried';
  const stored = model.records.get(placeOf(record));
  if (record.section !== 'org' && !model.has('organisation', record.orgId)) return 'failed';
  const first = seen.get(identityOf(given));
  if (first === undefined) seen.set(identityOf(given), given);
  const isAgain = record.section === 'domainPolicy' && isDeepStrictEqual(first, given);
  if (first !== undefined && onConflict !== 'report' && !isAgain) return 'failed';
  const rejection = kindOf(record.section).rejects?.(record, model);
  if (rejection !== undefined) return rejection;
  if (first !== undefined && stored === undefined)
    return isAgain && !model.changesScope(record) ? 'unchanged' : 'failed';
  if (stored === undefined) return model.changesScope(record) || model.isInForeignDomain(record) ? 'failed' : 'created';
  if (stored.orgId !== record.orgId || stored.section !== record.section) return 'failed';
  // Only overwritten records keep a state that the file does not contain.
  if (isEqual(onConflict === 'overwrite' ? record : withState(record), stored)) return 'unchanged';
  if (onConflict === 'report') return 'failed';
  if (onConflict === 'skip') return 'skipped';
  if (!canOverwrite(model, record, stored)) return 'failed';
  return first === undefined ? 'overwritten' : 'unchanged';
}

/** The identity of a record within a file. User grants of one user are the same with and without a project grant's id. */
export function identityOf(record: ModelRecord): string {
  const { projectGrantId: _grantId, ...json } = record.json;
  const place = placeOf(record.section === 'userGrants' ? { ...record, json } : record);
  return kindOf(record.section).perOrganisation ? `${place} of ${record.orgId}` : place;
}

/** The organisations whose domain policy validates domains, in the file or otherwise stored. */
function validatingOrganisations(model: Model, entries: readonly Entry[]): ReadonlySet<string> {
  const orgIds = [...new Set(entries.map(({ orgId }) => orgId))];
  const inFile = entries.flatMap(({ records }) => records.filter(({ section }) => section === 'domainPolicy'));
  const policies = new Map(inFile.toReversed().map((policy) => [policy.orgId, policy]));
  const policyOf = (orgId: string) => policies.get(orgId) ?? model.find('policy', orgId);
  return new Set(orgIds.filter((orgId) => policyOf(orgId)?.json.validateOrgDomains === true));
}

function isPrimaryRejected({ section, orgId, json }: ModelRecord, validating: ReadonlySet<string>): boolean {
  return section === 'domains' && validating.has(orgId) && json.isPrimary === true && json.isVerified !== true;
}

/** The places of the organisations' primary domains: the last of several in a file is primary (zitadel 2.5). */
function lastPrimaryDomains(entries: readonly Entry[], validating: ReadonlySet<string>): ReadonlyMap<string, string> {
  const domains = entries.flatMap(({ records }) => records.filter(({ section }) => section === 'domains'));
  const primary = domains.filter((domain) => domain.json.isPrimary === true && !isPrimaryRejected(domain, validating));
  return new Map(primary.map((domain) => [domain.orgId, placeOf(domain)]));
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
    const isNeedless = model.owner('project', project) === record.orgId && !model.has('projectGrant', grantId);
    const { projectGrantId: _unset, ...json } = record.json;
    return isNeedless ? { ...record, json } : record;
  }
  const grant = grantTo(model, project, record.orgId);
  if (grant === undefined) return record;
  return { ...record, json: { ...record.json, projectGrantId: textAt(grant, 'grantId') } };
}

/** A grant without the roles that its project or its project grant lacks, if others remain (zitadel 9.1). */
function withoutMissingRoles(model: Model, record: ModelRecord): ModelRecord {
  if (record.section === 'projectGrants') {
    const { projectGrant } = record.json;
    const roleKeys = keptRoles(
      model,
      textAt(record, 'projectGrant.projectId'),
      textsAt(record, 'projectGrant.roleKeys'),
    );
    return isJsonObject(projectGrant) && roleKeys.length > 0
      ? { ...record, json: { ...record.json, projectGrant: { ...projectGrant, roleKeys } } }
      : record;
  }
  if (record.section !== 'userGrants') return record;
  const grant = model.find('projectGrant', textAt(record, 'projectGrantId'));
  const roleKeys = keptRoles(model, textAt(record, 'projectId'), textsAt(record, 'roleKeys')).filter(
    (role) => grant === undefined || textsAt(grant, 'projectGrant.roleKeys').includes(role),
  );
  return roleKeys.length > 0 ? { ...record, json: { ...record.json, roleKeys } } : record;
}

function keptRoles(model: Model, project: string, roles: readonly string[]): string[] {
  return roles.filter((role) => model.has('role', project, role));
}

function canOverwrite(model: Model, record: ModelRecord, stored: ModelRecord): boolean {
  const keeps = (path: string) => textAt(record, path) === textAt(stored, path);
  const movesIntoForeignDomain = !keeps('user.userName') && model.isInForeignDomain(record);
  const { fixed = [] } = kindOf(record.section);
  if (record.section === 'org' && record.json.orgState !== undefined && !keeps('orgState')) return false;
  return fixed.every(keeps) && !model.changesScope(record) && !movesIntoForeignDomain && !losesUsedRoles(model, record);
}

/** Whether a project grant has fewer roles than the user grants through it use. */
function losesUsedRoles(model: Model, record: ModelRecord): boolean {
  if (record.section !== 'projectGrants') return false;
  const granted = textsAt(record, 'projectGrant.roleKeys');
  return [...model.records.values()].some(
    (one) =>
      one.section === 'userGrants' &&
      textAt(one, 'projectGrantId') === textAt(record, 'grantId') &&
      textsAt(one, 'roleKeys').some((role) => !granted.includes(role)),
  );
}

/** Fixes the scope of login names of organisations whose users an import begins to write. */
function settleScopes(model: Model, records: readonly ModelRecord[]): void {
  const users = records.filter(
    ({ section, orgId }) => kindOf(section).ids === 'user' && model.has('organisation', orgId),
  );
  for (const { orgId } of users) model.scopes.set(orgId, 'settled');
}

/** The records whose name another record holds at their turn: records take and release names one after the other. */
function withTakenNames(model: Model, decided: readonly Decided[]): ReadonlySet<ModelRecord> {
  const holders = new Map([...model.records].map(([place, record]) => [nameOf(record, model), place]));
  const refused = new Set<ModelRecord>();
  for (const { record, kind } of decided) {
    if (kind !== 'created' && kind !== 'overwritten') continue;
    const [place, name] = [placeOf(record), nameOf(record, model)];
    const stored = model.records.get(place);
    const holder = name === undefined ? place : (holders.get(name) ?? place);
    if (holder !== place) {
      refused.add(record);
      continue;
    }
    if (stored !== undefined) holders.delete(nameOf(stored, model));
    holders.set(name, place);
  }
  return refused;
}

function apply(model: Model, { record, kind, isRejected }: Decided): Outcome {
  const { section, orgId } = record;
  const place = placeOf(record);
  const stored = model.records.get(place);
  if (kind === 'created') model.records.set(place, withState(record));
  if (kind === 'overwritten' && stored !== undefined) model.change(place, stored, merged(record, stored));
  const isLost = section !== 'org' && !model.has('organisation', orgId);
  if (kind !== 'failed' && isRejected)
    return { section, kind, error: { type: 'domain_isprimary', id: `${orgId}_${textAt(record, 'domainName')}` } };
  if (kind !== 'failed' || isLost) return { section, kind };
  const { type, id, key } = kindOf(section);
  return { section, kind, error: { type, id: (id ?? key).map((path) => textAt(record, path)).join('_') } };
}

function missingOrganisation(model: Model, { orgId, hasName }: Entry): Outcome[] {
  if (hasName) return [];
  if (model.has('organisation', orgId)) return [{ section: 'org', kind: 'unchanged' }];
  return [{ section: 'org', kind: 'failed', error: { type: 'org', id: orgId } }];
}

/** Whether a record equals the stored one: omitted values are not compared (specification 6.3). */
function isEqual(record: ModelRecord, stored: ModelRecord): boolean {
  const { json, hash, seed, factor } = merged(record, stored);
  const same = isDeepStrictEqual(json, stored.json);
  return same && hash === stored.hash && seed === stored.seed && factor === stored.factor;
}

/** A record with the values that it keeps from the stored one: its credentials, factor and state. */
function merged(record: ModelRecord, stored: ModelRecord): Omit<ModelRecord, 'sequence'> {
  const { hash = stored.hash, seed = stored.seed } = record;
  const { section, orgId, factor } = record;
  const { state, orgState } = stored.json;
  const kept = Object.entries({ state, orgState }).filter(([, value]) => value !== undefined);
  const json = { ...Object.fromEntries(kept), ...record.json };
  return { section, orgId, json, hash, seed, factor: factor || stored.factor };
}
