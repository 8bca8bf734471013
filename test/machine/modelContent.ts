import { isJsonObject, type JsonObject, valueAt } from '../../shared/json/jsonObject.ts';
import { type ModelRecord, textAt } from './kinds.ts';
import type { Model } from './model.ts';

/** The values that every stored record of a section has, by the path of their object (zitadel 4.3). */
const defaultsOf: Readonly<Record<string, readonly [inner: string, defaults: JsonObject]>> = {
  loginPolicy: [
    '',
    Object.fromEntries(
      ['passwordCheck', 'externalLoginCheck', 'mfaInitSkip', 'secondFactorCheck', 'multiFactorCheck'].map((name) => [
        `${name}Lifetime`,
        '0s',
      ]),
    ),
  ],
  oidcApps: [
    'app',
    { responseTypes: ['OIDC_RESPONSE_TYPE_CODE'], grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'], clockSkew: '0s' },
  ],
};

const ORGANISATIONS_OWN = 'IDP_OWNER_TYPE_ORG';

/** Returns the JSON of a record of a file with the values that every stored record has. */
export function withDefaults(section: string, json: JsonObject): JsonObject {
  const [inner, defaults = {}] = defaultsOf[section] ?? [''];
  return changedAt(json, inner, (object) => ({ ...defaults, ...object }));
}

/** Returns a record's JSON with the values that an export adds. */
export function exportedJson(record: ModelRecord, model: Model): JsonObject {
  const { section, json } = record;
  if (section === 'machineUsers') return changedAt(json, 'user', (user) => ({ ...user, userId: json.userId }));
  if (section === 'loginPolicy' && Array.isArray(json.idps))
    return {
      ...json,
      idps: json.idps.map((idp) => (isOwn(idp, record, model) ? { ...idp, ownerType: ORGANISATIONS_OWN } : idp)),
    };
  const provider = section === 'userLinks' ? ownProvider(textAt(record, 'idpId'), record, model) : undefined;
  if (provider === undefined) return json;
  return {
    ...json,
    idpName: textAt(provider, 'idp.name'),
    idpType: provider.section === 'oidcIdps' ? 'IDP_TYPE_OIDC' : 2,
  };
}

/** Returns a record's content as a text; records with equal texts count as equal. */
export function comparedContent(record: ModelRecord, model: Model): string {
  const { section, secrets, factor } = record;
  let { json } = record;
  if (section === 'humanUsers') {
    const displayName = `${textAt(record, 'user.profile.firstName')} ${textAt(record, 'user.profile.lastName')}`;
    json = changedAt(json, 'user.profile', (profile) => without(profile, { displayName, preferredLanguage: 'und' }));
  }
  if (section === 'loginPolicy' && Array.isArray(json.idps))
    json = { ...json, idps: json.idps.map((idp) => (isOwn(idp, record, model) ? { ...idp, ownerType: '' } : idp)) };
  if (section === 'userLinks' && ownProvider(textAt(record, 'idpId'), record, model) !== undefined)
    json = { ...json, idpName: undefined, idpType: undefined };
  return sortedText({ json, secrets, factor });
}

/** Writes a value as JSON with the fields of objects in the order of their names. */
export function sortedText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isJsonObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

function isOwn(idp: unknown, record: ModelRecord, model: Model): boolean {
  return isJsonObject(idp) && ownProvider(String(idp.idpId), record, model) !== undefined;
}

function ownProvider(idpId: string, { orgId }: ModelRecord, model: Model): ModelRecord | undefined {
  const provider = model.find('identityProviders', idpId);
  return provider?.orgId === orgId ? provider : undefined;
}

function changedAt(json: JsonObject, path: string, change: (object: JsonObject) => JsonObject): JsonObject {
  if (path === '') return change(json);
  const [name = '', ...rest] = path.split('.');
  const object = valueAt(json, name);
  return isJsonObject(object) ? { ...json, [name]: changedAt(object, rest.join('.'), change) } : json;
}

function without(json: JsonObject, values: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(json).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(values[name])),
  );
}
