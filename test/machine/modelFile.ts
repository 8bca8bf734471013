import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, putAt, takeAt } from '../../shared/json/jsonObject.ts';
import { recordSection } from '../../shared/organisation/allSections.ts';
import { mayHaveOtpEmail } from '../../shared/organisation/sections/section.ts';
import { usualState } from '../../shared/organisation/states.ts';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { isSingle, type ModelRecord } from './kinds.ts';
import type { Model } from './model.ts';
import { exportedJson, withDefaults } from './modelContent.ts';

/** An organisation of a file. */
export interface Entry {
  readonly orgId: string;
  readonly hasName: boolean;
  readonly records: readonly ModelRecord[];
}

/** The credentials that an export contains (specification 2.4). */
export interface Contents {
  readonly withPasswords: boolean;
  readonly withOtp: boolean;
  readonly withKeys: boolean;
}

/** The secrets that a file's manifest states as selected; none without a manifest. */
export type Stated = Partial<Omit<Contents, 'withKeys'>>;

/**
 * Reads a file's records, in either shape (zitadel 2.1). Entries with the same id are one organisation (zitadel 5.5).
 */
export function readFile(orgs: readonly Organisation[], stated: Stated = {}): readonly Entry[] {
  const named = new Set<string>();
  const names = new Map(orgs.flatMap(({ orgId, org }) => (org === undefined ? [] : [[orgId, org]])));
  const states = new Map(orgs.flatMap(({ orgId, orgState }) => (orgState === undefined ? [] : [[orgId, orgState]])));
  return orgs.map(({ orgId, org: _org, orgState: _own, ...sections }) => {
    const [org, orgState] = [names.get(orgId), states.get(orgId)];
    const isFirst = org !== undefined && !named.has(orgId);
    if (isFirst) named.add(orgId);
    const own = isFirst
      ? [toRecord('org', orgId, { orgId, org, ...(orgState === undefined ? {} : { orgState }) })]
      : [];
    const records = Object.entries(sections).flatMap(([name, value]) => {
      const section = name === 'iamPolicy' ? 'domainPolicy' : name;
      const list: readonly unknown[] = Array.isArray(value) ? value : [value];
      return list.filter(isJsonObject).flatMap((json) => {
        const record = withStated(toRecord(section, orgId, withDefaults(section, json)), stated);
        return [record, ...linksIn(json, record)];
      });
    });
    return { orgId, hasName: names.has(orgId), records: [...own, ...records] };
  });
}

/** Whether entries of a file contradict each other about an organisation. */
export function isContradictory(orgs: readonly Organisation[]): boolean {
  const single = ['org', 'orgState'];
  return orgs.some((one) =>
    orgs.some((other) => {
      const differs = (name: string) =>
        one[name] !== undefined && other[name] !== undefined && !isDeepStrictEqual(one[name], other[name]);
      return one.orgId === other.orgId && single.some(differs);
    }),
  );
}

/** The state of new records, by their section; a person's depends on the record (zitadel 5.5). */
const usualStates: Readonly<Record<string, string>> = {
  org: 'ORG_STATE_ACTIVE',
  machineUsers: 'USER_STATE_ACTIVE',
  projects: 'PROJECT_STATE_ACTIVE',
  apiApps: 'APP_STATE_ACTIVE',
  oidcApps: 'APP_STATE_ACTIVE',
  actions: 'ACTION_STATE_ACTIVE',
  projectGrants: 'PROJECT_GRANT_STATE_ACTIVE',
  userGrants: 'USER_GRANT_STATE_ACTIVE',
};

/** The sections whose exports contain the usual state. */
const statedSections: readonly string[] = ['org', 'humanUsers', 'machineUsers'];

/** Separates a record's JSON from its credentials, its links, and the id that exports repeat inside a service user. */
function toRecord(section: string, orgId: string, { otpEmail, ...json }: JsonObject): ModelRecord {
  const { user } = json;
  const rest = structuredClone(json);
  const secrets: Record<string, string> = {};
  for (const { path, field } of recordSection(section).credentials ?? []) {
    const secret = takeAt(rest, path);
    if (secret !== undefined) secrets[field] = secret;
  }
  const isPerson = section === 'humanUsers' && isJsonObject(user);
  const isKnown =
    isPerson && ((isJsonObject(user.email) && user.email.isEmailVerified === true) || user.idps !== undefined);
  if (isJsonObject(rest.user)) {
    delete rest.user.userId;
    delete rest.user.idps;
  }
  return {
    section,
    orgId,
    json: rest,
    secrets,
    factor: typeof otpEmail === 'boolean' ? otpEmail : undefined,
    sequence: 1,
    impliedState: isPerson ? (isKnown ? 'USER_STATE_ACTIVE' : 'USER_STATE_INITIAL') : usualStates[section],
  };
}

/**
 * Adds what absent values mean: the source lacks a secret that the request selected and the record lacks (specification
 * 2.7).
 */
function withStated(record: ModelRecord, stated: Stated): ModelRecord {
  if (Object.keys(stated).length === 0) return record;
  const section = recordSection(record.section);
  const { credentials = [] } = section;
  const selected = credentials.filter(({ flag }) => stated[flag] === true).map(({ field }) => field);
  const usual = usualState(section);
  return {
    ...record,
    json: usual === undefined ? record.json : { state: usual, ...record.json },
    lacks: selected.filter((field) => record.secrets[field] === undefined),
    factor: record.factor ?? (mayHaveOtpEmail(section) && stated.withOtp === true ? false : undefined),
  };
}

/** Returns the links to identity providers that a person's JSON contains. */
function linksIn({ user, userId }: JsonObject, parent: ModelRecord): ModelRecord[] {
  const links = isJsonObject(user) && Array.isArray(user.idps) ? user.idps.filter(isJsonObject) : [];
  return links.map(({ configId, externalUserId, displayName }) => {
    const providedUserName = displayName === undefined ? {} : { providedUserName: displayName };
    const json = { userId, idpId: configId, providedUserId: externalUserId, ...providedUserName };
    return { ...toRecord('userLinks', parent.orgId, json), parent };
  });
}

/** Gives a record without a state the one of new records. */
export function withState(record: ModelRecord): ModelRecord {
  const { section, impliedState, json } = record;
  if (impliedState === undefined) return record;
  return { ...record, json: { [section === 'org' ? 'orgState' : 'state']: impliedState, ...json } };
}

/** Returns the record of a stored document, whose usual state may be omitted. */
export function storedRecord(section: string, orgId: string, json: JsonObject): ModelRecord {
  const usual = usualStates[section];
  return {
    ...toRecord(section, orgId, usual === undefined || section === 'org' ? json : { state: usual, ...json }),
    factor: false,
  };
}

/** Returns the content of an export of some organisations (specification 2.7). */
export function exportedOrganisations(model: Model, orgIds: readonly string[], contents: Contents): Organisation[] {
  return orgIds.flatMap((orgId) => {
    const organisation = model.find('organisations', orgId);
    if (organisation === undefined) return [];
    const exported: Organisation & JsonObject = { ...organisation.json, orgId };
    for (const record of model.records.values()) {
      const { section } = record;
      if (record.orgId !== orgId || record === organisation) continue;
      if (recordSection(section).keys === true && !contents.withKeys) continue;
      const list = exported[section];
      const json = withCredentials(record, exportedJson(record, model), contents);
      if (isSingle(section)) exported[section] = json;
      else exported[section] = Array.isArray(list) ? [...list, json] : [json];
    }
    return [exported];
  });
}

function withCredentials({ section, secrets, factor }: ModelRecord, given: JsonObject, contents: Contents): JsonObject {
  const json = structuredClone(given);
  for (const { path, field, flag } of recordSection(section).credentials ?? [])
    if (contents[flag] && secrets[field] !== undefined) putAt(json, path, secrets[field]);
  if (json.state === usualStates[section] && !statedSections.includes(section)) delete json.state;
  return { ...json, ...(contents.withOtp && factor === true ? { otpEmail: true } : {}) };
}
