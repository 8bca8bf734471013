import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '../../shared/json/jsonObject.ts';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { kinds, type ModelRecord } from './kinds.ts';
import type { Model } from './model.ts';

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

/** Reads a file's records, in either shape (zitadel 2.1). Entries with the same id are one organisation (zitadel 5.5). */
export function readFile(orgs: readonly Organisation[]): readonly Entry[] {
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
      return kinds[section] === undefined
        ? []
        : list.filter(isJsonObject).map((json) => toRecord(section, orgId, json));
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

/** Removes the credentials from a record's JSON, and the id that exports repeat in a service user's inner object. */
function toRecord(section: string, orgId: string, { otpEmail, ...json }: JsonObject): ModelRecord {
  const { hashedPassword, otpCode, userId: _repeated, ...user } = isJsonObject(json.user) ? json.user : {};
  const hash =
    isJsonObject(hashedPassword) && typeof hashedPassword.value === 'string' ? hashedPassword.value : undefined;
  return {
    section,
    orgId,
    json: isJsonObject(json.user) ? { ...json, user } : json,
    hash,
    seed: typeof otpCode === 'string' ? otpCode : undefined,
    factor: otpEmail === true,
    sequence: 1,
  };
}

/** Gives a new record without a state its default state (zitadel 5.5). */
export function withState(record: ModelRecord): ModelRecord {
  const { user } = record.json;
  if (record.section === 'org') return { ...record, json: { orgState: 'ORG_STATE_ACTIVE', ...record.json } };
  if (!isJsonObject(user)) return record;
  const isKnown =
    record.section === 'machineUsers' || (isJsonObject(user.email) && user.email.isEmailVerified === true);
  const state = isKnown ? 'USER_STATE_ACTIVE' : 'USER_STATE_INITIAL';
  return { ...record, json: { state, ...record.json } };
}

/** Returns the content of an export of some organisations (specification 2.7). */
export function exportedOrganisations(model: Model, orgIds: readonly string[], contents: Contents): Organisation[] {
  return orgIds.flatMap((orgId) => {
    const organisation = model.find('organisation', orgId);
    if (organisation === undefined) return [];
    const exported: Organisation & JsonObject = { ...organisation.json, orgId };
    for (const record of model.records.values()) {
      if (record.orgId !== orgId || record === organisation) continue;
      if (record.section === 'machineKeys' && !contents.withKeys) continue;
      const list = exported[record.section];
      const json = withCredentials(record, contents);
      if (record.section === 'domainPolicy') exported[record.section] = json;
      else exported[record.section] = Array.isArray(list) ? [...list, json] : [json];
    }
    return [exported];
  });
}

function withCredentials(
  { section, json, hash, seed, factor }: ModelRecord,
  { withPasswords, withOtp }: Contents,
): JsonObject {
  if (!isJsonObject(json.user)) return json;
  if (section === 'machineUsers') return { ...json, user: { ...json.user, userId: json.userId } };
  const password = withPasswords && hash !== undefined ? { hashedPassword: { value: hash } } : {};
  const user = { ...json.user, ...password, ...(withOtp && seed !== undefined ? { otpCode: seed } : {}) };
  return { ...json, user, ...(withOtp && factor ? { otpEmail: true } : {}) };
}
