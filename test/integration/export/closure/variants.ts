import { generateKeyPairSync } from 'node:crypto';
import { InvalidRecordError } from '../../../../shared/organisation/message.ts';
import { readRecord } from '../../../../shared/organisation/record.ts';
import { isList } from '../../../../shared/organisation/section.ts';
import { sections } from '../../../../shared/organisation/sections.ts';
import { type Organisation, organisation, person } from '../../../support/fixtures/organisations.ts';
import { sectionNamed } from '../../../support/fixtures/sectionNamed.ts';
import { repetitions } from '../../../support/repetitions.ts';
import { type FieldPlace, fieldPlaces, withValue } from '../../../support/strings/fieldPlaces.ts';

/** A change of a record: another value at a place. */
export interface Change {
  readonly place: FieldPlace;
  readonly value: unknown;
}

/** Sets of changes, by section: each makes a record. */
export type Variants = ReadonlyMap<string, readonly (readonly Change[])[]>;

/** The fields of each section's records that hold one value. */
export const placesOf: ReadonlyMap<string, readonly FieldPlace[]> = Map.groupBy(
  fieldPlaces.filter(({ steps }) => steps.length > 0),
  ({ section }) => section,
);

const HUB = 'hub';
/** The number of variants that have a user and a project of the hub to refer to. */
const REFERENCES = repetitions({ few: 40, many: 500 });
const pem = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
const publicKey = Buffer.from(pem).toString('base64');
const expirationDate = '2099-01-01T00:00:00Z';
const oidc = { clientId: 'client', clientSecret: 'secret', issuer: 'https://idp.example' };
const jwt = {
  ...{ issuer: 'https://idp.example', jwtEndpoint: 'https://idp.example/jwt' },
  ...{ keysEndpoint: 'https://idp.example/keys', headerName: 'x-jwt' },
};

/** Creates a valid record with a unique identity. */
type Create = (index: number) => object;

/** The records of sections with many records. They refer to those of the hub. */
const lists: Readonly<Record<string, Create>> = {
  projects: (i) => ({ projectId: `project ${i}`, project: { name: `project ${i}` } }),
  projectRoles: (i) => ({ projectId: 'project', roleKey: `role ${i}`, displayName: 'role' }),
  apiApps: (i) => ({ appId: `api ${i}`, app: { projectId: 'project', name: `api ${i}` } }),
  oidcApps: (i) => ({ appId: `oidc ${i}`, app: { projectId: 'project', name: `oidc ${i}` } }),
  humanUsers: (i) => person(`person ${i}`, { idps: [{ configId: 'idp', externalUserId: `inside ${i}` }] }),
  machineUsers: (i) => ({ userId: `machine ${i}`, user: { userName: `machine ${i}`, name: 'machine' } }),
  actions: (i) => ({ actionId: `action ${i}`, action: { name: `action ${i}`, script: 's', timeout: '1s' } }),
  projectGrants: (i) => ({ grantId: `grant ${i}`, projectGrant: { projectId: `hub ${i}`, grantedOrgId: 'other' } }),
  userGrants: (i) => ({ userId: `hub ${i}`, projectId: 'project', roleKeys: ['role'] }),
  orgMembers: (i) => ({ userId: `hub ${i}`, roles: ['ORG_OWNER'] }),
  projectMembers: (i) => ({ projectId: 'project', userId: `hub ${i}`, roles: ['PROJECT_OWNER'] }),
  projectGrantMembers: (i) => ({
    ...{ projectId: 'project', grantId: 'grant', userId: `hub ${i}` },
    roles: ['PROJECT_GRANT_OWNER'],
  }),
  userMetadata: (i) => ({ id: 'user', key: `key ${i}`, value: 'YQ==' }),
  oidcIdps: (i) => ({ idpId: `oidc idp ${i}`, idp: { name: `oidc idp ${i}`, ...oidc } }),
  jwtIdps: (i) => ({ idpId: `jwt idp ${i}`, idp: { name: `jwt idp ${i}`, ...jwt } }),
  userLinks: (i) => ({ userId: 'user', idpId: 'idp', providedUserId: `external ${i}` }),
  domains: (i) => ({ domainName: `d${i}.example`, isVerified: true }),
  appKeys: (i) => ({ id: `app key ${i}`, appId: 'app', projectId: 'project', expirationDate }),
  machineKeys: (i) => ({ keyId: `machine key ${i}`, userId: 'machine', expirationDate, publicKey }),
};

/** The records of sections with one record per organisation, language or trigger. */
const singles: Readonly<Record<string, Create>> = {
  domainPolicy: () => ({ orgId: 'any' }),
  loginPolicy: () => ({ idps: [{ idpId: 'idp', ownerType: 'IDP_OWNER_TYPE_SYSTEM' }] }),
  triggerActions: (i) => ({ flowType: '1', triggerType: '1', actionIds: [`action of ${i}`] }),
};

const numbers = Array.from({ length: REFERENCES }, (_, index) => index);
const hub: Readonly<Record<string, readonly object[]>> = {
  projects: ['project', ...numbers.map((i) => `hub ${i}`)].map((projectId) => ({
    projectId,
    project: { name: projectId },
  })),
  projectRoles: [{ projectId: 'project', roleKey: 'role', displayName: 'role' }],
  apiApps: [
    {
      appId: 'app',
      app: { projectId: 'project', name: 'app', authMethodType: 'API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT' },
    },
  ],
  humanUsers: ['user', ...numbers.map((i) => `hub ${i}`)].map((userId) => person(userId)),
  machineUsers: [{ userId: 'machine', user: { userName: 'machine', name: 'machine' } }],
  projectGrants: [
    { grantId: 'grant', projectGrant: { projectId: 'project', grantedOrgId: 'other', roleKeys: ['role'] } },
  ],
  oidcIdps: [{ idpId: 'idp', idp: { name: 'idp', ...oidc } }],
};

/**
 * Creates organisations with the variants of records: those of lists in one organisation, the others in separate
 * organisations. Variants that break a rule of their fields are omitted, because a file with one is rejected as a whole.
 */
export function variantOrganisations(variants: Variants): Organisation[] {
  const listed = sections.filter(({ name }) => Object.hasOwn(lists, name));
  const others = sections.filter((section) => !listed.includes(section));
  const content = listed.map(({ name }) => [name, [...(hub[name] ?? []), ...recordsOf(name, variants)]]);
  const records = others.map((section) => ({ section, variants: recordsOf(section.name, variants) }));
  const count = Math.max(...records.map((one) => one.variants.length));
  return [
    organisation(HUB, Object.fromEntries(content)),
    organisation('other'),
    ...Array.from({ length: count }, (_, index) => {
      const own = records.flatMap(({ section, variants: { [index]: record } }) =>
        record === undefined ? [] : [[section.name, isList(section) ? [record] : record] as const],
      );
      const actions = [{ actionId: `action of ${index}`, action: { name: 'action', script: 's' } }];
      return organisation(`single ${index}`, { ...Object.fromEntries(own), actions });
    }),
  ];
}

function recordsOf(name: string, variants: Variants): object[] {
  const create = lists[name] ?? singles[name] ?? (() => (name.endsWith('Policy') ? {} : { language: 'de' }));
  const changed = (variants.get(name) ?? []).map((changes, index) =>
    changes.reduce<unknown>((record, { place, value }) => withValue(record, place.steps, value), create(index)),
  );
  return changed.filter((record) => typeof record === 'object' && record !== null && keepsRules(name, record));
}

function keepsRules(name: string, record: object): record is object {
  try {
    readRecord(sectionNamed(name), structuredClone(record), HUB, true);
    return true;
  } catch (error) {
    if (!(error instanceof InvalidRecordError)) throw error;
    return false;
  }
}
