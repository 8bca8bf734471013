import { generateKeyPairSync } from 'node:crypto';
import { z } from 'zod';
import { type JsonObject, putAt } from '../../shared/json/jsonObject.ts';
import { isSingle } from '../machine/kinds.ts';
import { withInnerIds } from '../support/fixtures/filledOrganisation.ts';
import { type Organisation, organisation } from '../support/fixtures/organisations.ts';

// The records of the table's rows: `ORGANISATION KIND ARGUMENT… PATH=VALUE…`, separated by semicolons.

const { publicKey } = generateKeyPairSync('ed25519');
const KEY = Buffer.from(String(publicKey.export({ type: 'spki', format: 'pem' }))).toString('base64');

/** Makes an id or a name unique to a row: rows that share an instance must not share these. */
type Own = (text: string) => string;

/** A kind of record: its section, and the record of some arguments. */
type Kind = readonly [section: string, toJson: (own: Own, args: readonly string[], orgId: string) => JsonObject];

const app =
  (prefix: string) =>
  (own: Own, [id = '', project = '', name = id]: readonly string[]) => ({
    appId: own(id),
    app: { projectId: own(project), name: own(name), authMethodType: `${prefix}_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT` },
  });
const user =
  (more: JsonObject) =>
  (own: Own, [id = '', name = id]: readonly string[]) => ({
    userId: own(id),
    user: { userName: own(name), ...more },
    state: 'USER_STATE_ACTIVE',
  });
const profile = { firstName: 'F', lastName: 'L' };
const email = { email: 'e@example.com', isEmailVerified: true };
const key = { type: 'KEY_TYPE_JSON', expirationDate: '2099-01-01T00:00:00Z', publicKey: KEY };
const policy =
  (field: string, convert: (text: string) => unknown = (text) => text) =>
  (_own: Own, [value = '']: readonly string[]) => ({ [field]: convert(value) });
const text = (_own: Own, [language = '', content]: readonly string[]) => ({
  language,
  ...(content === undefined ? {} : { text: content }),
});
const provider = { issuer: 'https://i.example' };

const kinds: Readonly<Record<string, Kind>> = {
  person: ['humanUsers', user({ profile, email })],
  linked: [
    'humanUsers',
    (own, [id = '', idp = '', externalUserId, displayName]) =>
      user({ profile, email, idps: [{ configId: own(idp), externalUserId, displayName }] })(own, [id]),
  ],
  robot: ['machineUsers', user({ name: 'Robot' })],
  project: ['projects', (own, [id = '', name = id]) => ({ projectId: own(id), project: { name: own(name) } })],
  role: [
    'projectRoles',
    (own, [project = '', roleKey = '']) => ({ projectId: own(project), roleKey, displayName: 'x' }),
  ],
  api: ['apiApps', app('API')],
  web: ['oidcApps', app('OIDC')],
  action: [
    'actions',
    (own, [id = '', name = id]) => ({ actionId: own(id), action: { name: own(name), script: 'x', timeout: '9s' } }),
  ],
  trigger: [
    'triggerActions',
    (own, [flowType, triggerType, ...ids]) => ({ flowType, triggerType, actionIds: ids.map(own) }),
  ],
  grant: [
    'projectGrants',
    (own, [id = '', project = '', org = '', ...roleKeys]) => ({
      grantId: own(id),
      projectGrant: { projectId: own(project), grantedOrgId: own(org), roleKeys },
    }),
  ],
  authorisation: [
    'userGrants',
    (own, [userId = '', project = '', grant = '-', ...roleKeys]) => ({
      userId: own(userId),
      projectId: own(project),
      ...(grant === '-' ? {} : { projectGrantId: own(grant) }),
      roleKeys,
    }),
  ],
  member: ['orgMembers', (own, [userId = '', ...roles]) => ({ userId: own(userId), roles })],
  projectMember: [
    'projectMembers',
    (own, [project = '', userId = '', ...roles]) => ({ projectId: own(project), userId: own(userId), roles }),
  ],
  grantMember: [
    'projectGrantMembers',
    (own, [project = '', grant = '', userId = '', ...roles]) => ({
      projectId: own(project),
      grantId: own(grant),
      userId: own(userId),
      roles,
    }),
  ],
  metadata: ['userMetadata', (own, [id = '', name = '', value = '']) => ({ id: own(id), key: name, value })],
  oidc: [
    'oidcIdps',
    (own, [id = '', name = id, clientSecret = 's']) => ({
      idpId: own(id),
      idp: { name: own(name), ...provider, clientId: 'c', clientSecret },
    }),
  ],
  jwt: [
    'jwtIdps',
    (own, [id = '', name = id]) => ({
      idpId: own(id),
      idp: { name: own(name), ...provider, jwtEndpoint: 'j', keysEndpoint: 'k', headerName: 'h' },
    }),
  ],
  link: [
    'userLinks',
    (own, [userId = '', idp = '', external = '']) => ({
      userId: own(userId),
      idpId: own(idp),
      providedUserId: external,
    }),
  ],
  domain: ['domains', (own, [name = ''], orgId) => ({ orgId, domainName: `${own(name)}.example` })],
  appKey: [
    'appKeys',
    (own, [id = '', appId = '', project = '']) => ({
      id: own(id),
      projectId: own(project),
      appId: own(appId),
      clientId: 'c',
      ...key,
    }),
  ],
  machineKey: ['machineKeys', (own, [id = '', userId = '']) => ({ keyId: own(id), userId: own(userId), ...key })],
  domainPolicy: ['domainPolicy', (_own, _args, orgId) => ({ orgId })],
  labelPolicy: ['labelPolicy', policy('primaryColor')],
  lockoutPolicy: ['lockoutPolicy', policy('maxPasswordAttempts', Number)],
  loginPolicy: [
    'loginPolicy',
    (own, ids) => ({
      allowRegister: true,
      idps: ids.map((id) => ({ idpId: own(id), ownerType: 'IDP_OWNER_TYPE_ORG' })),
    }),
  ],
  passwordPolicy: ['passwordComplexityPolicy', policy('minLength')],
  privacyPolicy: ['privacyPolicy', policy('tosLink', (path) => `https://x.example/${path}`)],
  loginText: [
    'loginTexts',
    (_own, [language, title]) => ({ language, ...(title === undefined ? {} : { loginText: { title } }) }),
  ],
  ...Object.fromEntries(
    'init passwordReset verifyEmail verifyPhone domainClaimed passwordlessRegistration verifySmsOtp verifyEmailOtp inviteUser'
      .split(' ')
      .map((name) => [name, [`${name}Messages`, text]]),
  ),
};

/** Short names of paths that rows change often. */
const paths: Readonly<Record<string, string>> = {
  hash: 'user.hashedPassword.value',
  seed: 'user.otpCode',
  factor: 'otpEmail',
  nick: 'user.profile.nickName',
};

/** Reads the records of a row into organisations of a file. */
export function organisationsOf(row: string, own: Own): Organisation[] {
  const organisations = new Map<string, Organisation>();
  for (const line of row.split(';').map((part) => part.trim())) {
    if (line === '-') continue;
    const [org = '', kind = '', ...words] = line.split(' ');
    const orgId = own(org);
    const organisation: JsonObject & Organisation = organisations.get(orgId) ?? { orgId };
    organisations.set(orgId, organisation);
    const changes = words.filter((word) => word.includes('='));
    if (kind === 'org') Object.assign(organisation, { org: { name: own(words[0] ?? '') } });
    else
      addRecord(
        organisation,
        kind,
        words.filter((word) => !changes.includes(word)),
        changes,
        own,
      );
    if (kind === 'org' && changes[0] !== undefined) organisation.orgState = `ORG_STATE_${changes[0].split('=')[1]}`;
  }
  return [...organisations.values()].map(withoutEmpty);
}

/**
 * Reads records into organisations in the form that ZITADEL imports: with names, states, and the ids of service users
 * inside.
 */
export function zitadelOrganisations(records: string): Organisation[] {
  return organisationsOf(records.trim().replaceAll(/\s+/g, ' '), (text) => text).map(({ orgId, org: _, ...content }) =>
    withInnerIds(organisation(orgId, content)),
  );
}

const sparse = z.looseObject({ orgId: z.string() });

/** Returns an organisation without absent values and empty lists, as exports have it. */
function withoutEmpty(organisation: Organisation): Organisation {
  const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
  return sparse.parse(JSON.parse(JSON.stringify(organisation, (_, value) => (isEmpty(value) ? undefined : value))));
}

function addRecord(
  organisation: JsonObject & Organisation,
  kind: string,
  args: readonly string[],
  changes: readonly string[],
  own: Own,
) {
  const [section, toJson] = kinds[kind] ?? [];
  if (section === undefined || toJson === undefined) throw new Error(`no kind of record is called ${kind}`);
  const json = structuredClone(toJson(own, args, organisation.orgId));
  for (const change of changes) {
    const [name = '', value = ''] = change.split('=');
    putAt(json, paths[name] ?? name, toValue(value, own));
  }
  const list = organisation[section];
  if (isSingle(section)) organisation[section] = json;
  else organisation[section] = Array.isArray(list) ? [...list, json] : [json];
}

/** Converts a word to a value: `true`, `false`, nothing for `none`; a name after `~` is the row's own. */
function toValue(word: string, own: Own): unknown {
  if (word === 'none') return undefined;
  if (word === 'true' || word === 'false') return word === 'true';
  return word.replace(/~(\w+)/g, (_, name: string) => own(name));
}
