import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isJsonObject } from '../../shared/json/jsonObject.ts';
import { organisation, person, zitadelText } from '../support/fixtures/organisations.ts';
import { type Report, testInstance } from '../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';

/** An import whose report has more than counts: the file, the stored records, and other fields of the request. */
interface Row {
  readonly orgs: readonly object[];
  readonly stored?: readonly object[];
  readonly request?: object;
  /** Whether the file is of v1. */
  readonly isV1?: boolean;
  /** Fields of the file other than its organisations. */
  readonly file?: object;
}

const active = (userId: string, user: object = {}, more: object = {}) => ({
  ...person(userId, user),
  state: 'USER_STATE_ACTIVE',
  ...more,
});
const bot = { userId: 'bot', user: { userName: 'bot', name: 'Bot' }, state: 'USER_STATE_ACTIVE' };
const named = (orgId: string, content: object = {}) =>
  organisation(orgId, { orgState: 'ORG_STATE_ACTIVE', ...content });
/** A row whose file has the organisation `O` alone. */
const inO = (content: object, more: Omit<Row, 'orgs'> = {}): Row => ({ orgs: [named('O', content)], ...more });
const project = (projectId: string) => ({ projectId, project: { name: projectId } });
const role = (roleKey: string) => ({ projectId: 'P', roleKey, displayName: roleKey });
const projectGrant = (grantedOrgId: string, ...roleKeys: string[]) => ({
  grantId: 'G',
  projectGrant: { projectId: 'P', grantedOrgId, roleKeys },
});
const action = (actionId: string) => ({ actionId, action: { name: actionId, script: 's', timeout: '1s' } });
const trigger = (flowType: string, ...actionIds: string[]) => ({ flowType, triggerType: '1', actionIds });
const oidc = { idpId: 'I', idp: { name: 'I', clientId: 'c', clientSecret: 's', issuer: 'https://i.example' } };
const link = (configId: unknown, externalUserId: unknown = 'x') => ({ configId, externalUserId, displayName: 'x' });
const provider = (idpId: string, owner = 'ORG') => ({ idpId, ownerType: `IDP_OWNER_TYPE_${owner}` });
const withHash = (value: string) => ({ hashedPassword: { value } });
const unverified = { email: { email: 'a@a.example' } };
const app = (app: object) => ({
  appId: 'app',
  app: { projectId: 'P', name: 'app', redirectUris: ['https://x.example'], ...app },
});
const robot = (userId: string, more: object = {}) => ({ userId, user: { userName: userId, name: userId }, ...more });
const domain = (domainName: string, more: object = {}) => ({ domainName, isVerified: true, ...more });

const strict = { userLoginMustBeDomain: true, validateOrgDomains: true };
const withPolicy = (domainPolicy: object) => [named('O', { domainPolicy, humanUsers: [active('A')] })];
const preferring = (preferredLanguage: string) => ({ profile: { firstName: 'A', lastName: 'B', preferredLanguage } });
const conflicts = ['report', 'skip', 'overwrite'];

/** Records that exist with other content, each with a reason of its own. */
const existing: Pick<Row, 'stored' | 'orgs'> = {
  stored: [
    named('O', {
      humanUsers: [
        ...[active('name'), active('hash', withHash('$2y$04$a')), active('clear', { password: 'Password-1' })],
        active('factor', {}, { otpEmail: false }),
      ],
      machineUsers: [{ ...bot, state: 'USER_STATE_INACTIVE' }, robot('kind')],
      projects: [project('P')],
      projectRoles: [role('used')],
      projectGrants: [projectGrant('Q', 'used')],
      domainPolicy: strict,
    }),
    named('Q', {
      humanUsers: [active('theirs')],
      userGrants: [{ userId: 'theirs', projectId: 'P', projectGrantId: 'G', roleKeys: ['used'] }],
    }),
  ],
  orgs: [
    named('O', {
      orgState: 'ORG_STATE_INACTIVE',
      humanUsers: [
        ...[active('name', { userName: 'other' }), active('hash', withHash('$2y$04$b'))],
        ...[active('clear', { password: 'Password-2' }), active('factor', {}, { otpEmail: true })],
        ...[active('theirs'), active('kind')],
      ],
      machineUsers: [{ ...bot, state: undefined }],
      projects: [{ projectId: 'P', project: { name: 'other' } }],
      projectGrants: [projectGrant('R', 'used')],
      domainPolicy: { ...strict, validateOrgDomains: false },
    }),
    named('R'),
  ],
};

const rows: Readonly<Record<string, Row>> = {
  ...Object.fromEntries(
    conflicts.map((mode) => [
      `existing records with other content (${mode})`,
      { ...existing, request: { on_conflict: mode } },
    ]),
  ),
  ...Object.fromEntries(
    ['report', 'overwrite'].map((mode) => [
      `a project grant that would lose a role in use (${mode})`,
      {
        stored: [
          named('O', {
            projects: [project('P')],
            projectRoles: [role('kept'), role('used')],
            projectGrants: [projectGrant('Q', 'kept', 'used')],
          }),
          named('Q', {
            humanUsers: [active('A'), active('B')],
            userGrants: ['A', 'B'].map((userId) => ({ userId, projectId: 'P', roleKeys: ['used'] })),
          }),
        ],
        orgs: [{ orgId: 'O', projectGrants: [projectGrant('Q', 'kept')] }],
        request: { on_conflict: mode },
      },
    ]),
  ),
  'texts that are converted': inO({
    org: { name: 'Name ' },
    humanUsers: [active('A', { userName: ' ada ' }), active('B', preferring('iw')), active('C', preferring('DE_ch'))],
    domains: [domain(' a.example'), domain('b.example', { orgId: 'other' })],
    machineUsers: [robot('outer', { user: { userName: 'r', name: 'R', userId: 'inner' } })],
    projects: [project('P')],
    oidcApps: [
      app({
        redirectUris: [' https://x.example ', ' ', 'https://y.example'],
        responseTypes: ['OIDC_RESPONSE_TYPE_UNSPECIFIED'],
        backChannelLogoutUri: ' ',
      }),
    ],
  }),
  'values that the rules of ZITADEL reject': inO({
    humanUsers: [
      ...['Secret1', 'SECRET1!', 'secret1!', 'Secrets!', 'Secrets1'].map((password) => active(password, { password })),
      active('address', { email: { email: ' k15@x.ch ' } }),
      active('name', { userName: 'a\0b' }),
      active('hash', withHash('a\0b')),
    ],
    projects: [project('P')],
    oidcApps: [app({ loginVersion: { loginV2: { baseUri: ':x' } } })],
    initMessages: [{ language: 'zzz', title: 't' }],
    triggerActions: [
      trigger('9', 'a'),
      { ...trigger('2', 'a'), triggerType: '1' },
      { triggerType: '1', actionIds: ['a'] },
    ],
    orgMembers: [
      { userId: 'name', roles: ['ORG_OWNER', 'a\0b'] },
      { userId: 'hash', roles: [] },
    ],
    domains: [domain(' ')],
  }),
  'login names that several organisations have': {
    orgs: ['O', 'P'].map((orgId) => named(orgId, { humanUsers: [active(`of ${orgId}`, { userName: 'alice' })] })),
  },
  'a domain policy after the users': inO(
    { domainPolicy: strict },
    { stored: [named('O', { humanUsers: [active('A')] })] },
  ),
  'languages in another spelling, and another language': inO(
    {
      humanUsers: [
        ...[active('sh-ekavsk', preferring('sr-Latn-ekavsk')), active('i-default', preferring('en-x-i-default'))],
        active('sr', preferring('sh-ekavsk')),
      ],
    },
    {
      stored: [named('O', { humanUsers: ['sh-ekavsk', 'i-default', 'sr'].map((tag) => active(tag, preferring(tag))) })],
    },
  ),
  'an organisation whose id is too long': {
    orgs: [named('x'.repeat(301), { humanUsers: [active('A')] }), named('O', { humanUsers: [active('B')] })],
  },
  'a display name that ZITADEL has composed': {
    orgs: JSON.parse(readFileSync('test/fixtures/reports/displayname-from-zitadel.json', 'utf8')).orgs,
  },
  'numbers above 2^53': inO({
    passwordComplexityPolicy: { minLength: 2 ** 53 },
    more: 2 ** 53,
    org: { name: 'O', x: 2 ** 53 },
  }),
  'a number of 2^53 - 1, which is too long for a password': inO({
    passwordComplexityPolicy: { min_length: 2 ** 53 - 1 },
  }),
  'an invalid password policy': inO({
    humanUsers: [active('A', { password: 'Password1!' })],
    passwordComplexityPolicy: { minLength: '50', hasSymbol: 'yes' },
  }),
  'an invalid domain policy of a new organisation': { orgs: withPolicy({ ...strict, validateOrgDomains: 'x' }) },
  'an invalid domain policy of an existing organisation': {
    stored: withPolicy(strict),
    orgs: withPolicy({ ...strict, validateOrgDomains: 'x' }),
  },
  'an invalid record of an organisation that is not selected': {
    orgs: [named('O', { humanUsers: [null, active('A')] }), named('Q')],
    request: { org_ids: ['Q'] },
  },
  'an organisation in several entries of a file of v1': {
    isV1: true,
    orgs: [
      {
        orgId: 'O',
        humanUsers: [active('A', { password: 'weak' })],
        secondFactors: [{ type: 'SECOND_FACTOR_TYPE_OTP' }],
      },
      named('O', { passwordComplexityPolicy: { minLength: 4 }, loginPolicy: { allowRegister: true } }),
    ],
  },
  'members with unknown roles': inO({
    humanUsers: [active('A'), active('B')],
    orgMembers: [
      { userId: 'A', roles: ['ORG_SUPPORT_DESK', 'ORG_OWNER'] },
      { userId: 'B', roles: ['ORG_SUPPORT_DESK', 'IAM_OWNER'] },
    ],
  }),
  'grants with roles that their projects lack': {
    orgs: [
      named('granted', {
        humanUsers: [active('B')],
        userGrants: [{ userId: 'B', projectId: 'P', roleKeys: ['owner', 'gone', 'writer'] }],
      }),
      named('O', {
        projects: [project('P')],
        projectRoles: ['reader', 'writer', 'owner'].map(role),
        projectGrants: [projectGrant('granted', 'reader', 'gone', 'writer')],
      }),
    ],
  },
  'a project that is granted to its own organisation': inO({
    humanUsers: [active('A')],
    projects: [project('P')],
    projectRoles: [role('reader')],
    projectGrants: [projectGrant('O', 'reader')],
    userGrants: [{ userId: 'A', projectId: 'P', projectGrantId: 'G', roleKeys: ['reader'] }],
    projectGrantMembers: [{ userId: 'A', projectId: 'P', grantId: 'G', roles: ['PROJECT_GRANT_OWNER'] }],
  }),
  'policies with invalid fields': inO({
    privacyPolicy: { tosLink: 'https://a.example', supportEmail: 'Support <help@a.example>' },
    labelPolicy: { primaryColor: '#fff', warnColorDark: 'red' },
    loginPolicy: {
      forceMfa: true,
      defaultRedirectUri: 'nowhere',
      secondFactors: ['SECOND_FACTOR_TYPE_UNSPECIFIED', 'SECOND_FACTOR_TYPE_OTP', 'SECOND_FACTOR_TYPE_NEW', 5],
      multiFactors: ['MULTI_FACTOR_TYPE_UNSPECIFIED'],
    },
  }),
  'triggers of missing and repeated actions': inO({
    actions: [action('a'), action('b')],
    triggerActions: [trigger('1', 'a', 'gone', 'a', 'b'), trigger('3', 'gone')],
  }),
  'people and a policy with invalid links': inO({
    oidcIdps: [oidc],
    humanUsers: [
      active('A', { idps: [link(''), link('I'), link('I', ''), { configId: 7 }, { configId: 8 }] }),
      active('B', { userName: '', idps: [link('')] }),
    ],
    loginPolicy: { forceMfa: true, idps: [provider(''), provider('I')] },
  }),
  'identity providers that the target lacks': inO({
    oidcIdps: [oidc],
    humanUsers: [active('U'), active('V', { idps: [link('Google')] })],
    loginPolicy: { idps: [provider('I'), provider('LDAP'), provider('global', 'SYSTEM')] },
    userLinks: [{ userId: 'U', idpId: 'GitHub', idpName: 'GitHub', idpType: 7, providedUserId: 'u' }],
  }),
  'references to missing and foreign records': {
    orgs: [
      named('granting', { projects: [project('P')], projectGrants: [projectGrant('granted', 'gone')] }),
      named('granted', {
        humanUsers: [active('U')],
        userGrants: [
          { userId: 'U', projectId: 'P', projectGrantId: 'G', roleKeys: ['reader'] },
          { userId: 'nobody', projectId: 'P', roleKeys: ['reader'] },
        ],
        projectRoles: [role('mine')],
        userLinks: [{ idpId: 'idp', providedUserId: 'u' }],
      }),
    ],
  },
  'values of people': inO({
    humanUsers: [
      active('md5', withHash('5f4dcc3b5aa765d61d8327deb882cf99')),
      active('text', withHash('not a hash')),
      active('seed', { otpCode: 'not base32' }),
      active('corrected', { phone: { phone: '++41791234568' } }),
      active('international', { phone: { phone: '0041 79 123 45 67' } }),
      active('unassigned', { phone: { phone: '00999' } }),
      active('empty', { phone: {} }),
      active('notation', { phone: { phone: '+41 (0)79 123-45-67' } }),
      active('label', { phone: { phone: '+41 79 123 45 67 (Axel)' } }),
      active('extension', { phone: { phone: '+44 20 7946 0018 ext. 12' } }),
      active('gender', { profile: { firstName: 'A', lastName: 'B', gender: 'GENDER_ANOTHER' } }),
      active('bücher', { email: { email: 'info@b\u00fccher.example', isEmailVerified: true } }),
      active('jürgen', { email: { email: 'j\u00fcrgen@a.example', isEmailVerified: true } }),
      active('recovery', { recoveryCodes: ['a'] }),
      active('language', { profile: { firstName: 'A', lastName: 'B', preferredLanguage: 'de_DE@euro' } }),
      active('x'.repeat(201), { userName: 'long' }),
    ],
  }),
  'invalid records, between valid ones': {
    orgs: [
      named('O', {
        humanUsers: [
          active('phone', { phone: { phone: '079' } }),
          active('no address', { email: undefined }),
          active('address', { email: { email: 'x' } }),
          active('first name', { profile: { firstName: '', lastName: 'L' } }),
          active('last name', { profile: { firstName: 'F' } }),
          active('no profile', { profile: undefined }),
          active('user name', { userName: '' }),
          active('a number', { userName: 7 }),
          active('a text', { profile: 'x' }),
          active('a flag', { email: { email: 'a@x.example', isEmailVerified: 'yes' } }),
          active('both spellings', { user_name: 'x' }),
          ...[{ userId: 'no user' }, null, {}, 'x', [], 5],
          active('valid'),
        ],
        userMetadata: [
          { id: 'valid', key: 'empty', value: '' },
          { id: 'valid', key: 'no base64', value: '%' },
          { id: 'phone', key: 'of an invalid person', value: 'dg==' },
          { id: 'valid', key: 'valid', value: 'dg==' },
        ],
        orgMembers: ['phone', 'valid'].map((userId) => ({ userId, roles: ['ORG_OWNER'] })),
        projects: [project('P')],
        oidcApps: [app({ clockSkew: '60s' })],
        labelPolicy: { primaryColor: '#'.repeat(51) },
        lockoutPolicy: [],
        loginPolicy: { allowRegister: true },
        secondFactors: [true],
      }),
      named('Q', { humanUsers: [active('C')] }),
    ],
  },
  'an invalid organisation': {
    orgs: [{ ...named('O', { humanUsers: [active('A')], projects: [project('P')] }), org: { name: 1 } }, named('Q')],
  },
  'an invalid organisation that exists': {
    stored: [named('O')],
    orgs: [{ ...named('O', { humanUsers: [active('A')], projects: [project('P')] }), org: { name: 1 } }],
  },
  'organisations without a name, of which one exists': {
    stored: [named('O')],
    orgs: [...['O', 'none'].map((orgId) => ({ orgId, humanUsers: [active(orgId)] })), { org: { name: 'no id' } }],
  },
  'unknown states': {
    orgs: [
      named('O', {
        humanUsers: [active('A', {}, { state: 'USER_STATE_SUSPENDED_BY_ADMIN' }), active('B', {}, { state: 99 })],
        machineUsers: [robot('R', { state: 'X' })],
        projects: [{ ...project('P'), state: 'USER_STATE_ACTIVE' }],
      }),
      ...['ORG_STATE_FROZEN', 99].map((state) => organisation(`${state}`, { orgState: state })),
    ],
  },
  'unknown values of enumerations': inO({
    projects: [project('P')],
    oidcApps: ['NEW', 9].map((value) => ({
      ...app({ name: `${value}`, appType: value, grantTypes: [value] }),
      appId: `${value}`,
    })),
    initMessages: ['fi', 'de-AT'].map((language) => ({ language, title: 'Hi' })),
  }),
  'unknown values of a file of v1': {
    isV1: true,
    orgs: ['NEW', 9].map((value) =>
      named(`${value}`, {
        loginPolicy: { forceMfa: true },
        secondFactors: [{ type: value }, { type: 'SECOND_FACTOR_TYPE_OTP' }],
        multiFactors: [{ type: value }],
        idps: [{ idpId: 'new', ownerType: value }, provider('old', 'SYSTEM')],
      }),
    ),
  },
  'lists of a file of v1 without their policy': {
    isV1: true,
    orgs: [
      named('A', { secondFactors: [{ type: 'SECOND_FACTOR_TYPE_OTP' }, { type: 2 }], multiFactors: [{ type: 1 }] }),
      named('B', { loginPolicy: { forceMfa: true } }),
      named('C', { secondFactors: [] }),
      named('D', { idps: [provider('i')] }),
    ],
  },
  'a file of v1': { isV1: true, orgs: JSON.parse(zitadelText('import-v1-request')).dataOrgsv1.orgs },
  'lists of a file of v1 around their policy': {
    isV1: true,
    orgs: [
      {
        triggerActions: [{ flowType: 1, triggerType: 3, actionIds: ['a'] }],
        idps: [provider('I')],
        oidcIdps: [oidc],
        secondFactors: [{ type: 1 }, { type: 'SECOND_FACTOR_TYPE_U2F' }],
        loginPolicy: { allowUsernamePassword: true, secondFactors: ['SECOND_FACTOR_TYPE_OTP_SMS'] },
        multiFactors: [{ type: 'MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION' }],
        actions: [action('a')],
        ...named('O'),
      },
    ],
  },
  'unknown content': {
    file: { users: [{ id: 'u' }, { id: 'v' }], absent: null, exportedBy: { user: 'x' } },
    orgs: [
      named('O', {
        samlApps: [{ appId: 'a' }, { appId: 'b' }],
        features: { beta: true },
        none: null,
        empty: [],
        humanUsers: [
          active('A', {
            favouriteColour: 'red',
            email: { email: 'a@a.example', isEmailVerified: true, verifiedBy: ['x'] },
          }),
          active('B', { favourite_colour: 1 }, { nickname: null, department: {} }),
        ],
      }),
      named('P', { samlApps: [{ appId: 'c' }], org: { name: 'P', motto: 'x' } }),
    ],
  },
  'a state without its organisation': { stored: [named('O')], orgs: [{ orgId: 'O', orgState: 'ORG_STATE_INACTIVE' }] },
  'records without states': {
    orgs: [
      organisation('O', { humanUsers: [person('A', unverified), person('B'), active('C', unverified)] }),
      organisation('P', { humanUsers: [person('D', unverified)] }),
    ],
    request: { org_ids: ['O'] },
  },
  'a record twice': inO({ humanUsers: [active('U'), active('U', { userName: 'other' })] }),
  'two primary domains': inO({ domains: ['a.example', 'b.example'].map((name) => domain(name, { isPrimary: true })) }),
  'a primary domain beside a stored one': inO(
    { domains: [domain('b.example', { isPrimary: true })] },
    { stored: [named('O', { domains: [domain('a.example', { isPrimary: true })] })] },
  ),
  'privileges in existing records': {
    stored: [
      named('O', { projects: [project('P')], projectGrants: [projectGrant('own')] }),
      named('own', { machineUsers: [bot] }),
    ],
    orgs: [
      {
        orgId: 'O',
        orgMembers: [{ userId: 'bot', roles: ['ORG_OWNER', 'ORG_USER_MANAGER'] }],
        projectMembers: [{ userId: 'bot', projectId: 'P', roles: ['PROJECT_OWNER'] }],
        projectGrantMembers: [{ userId: 'bot', projectId: 'P', grantId: 'G', roles: ['PROJECT_GRANT_OWNER'] }],
        domains: [domain('verified.example'), domain('unverified.example', { isVerified: false })],
      },
    ],
  },
  'a changed state': inO(
    { machineUsers: [{ ...bot, state: 'USER_STATE_LOCKED' }] },
    { stored: [named('O', { machineUsers: [bot] })], request: { on_conflict: 'overwrite' } },
  ),
  'other fields of the request': {
    orgs: [named('O')],
    request: { with_key: true, comment: 'unknown', org_ids: ['O', 'missing', 'twice'], excluded_org_ids: ['twice'] },
  },
};

/** The lines of a report about single records: their errors and warnings. */
function linesOf({ errors = [], reasons, summary }: Report): string[] {
  const failed = errors.map(({ type, id = '', message }, index) => {
    const { reason, params = {} } = reasons[index] ?? {};
    const [, zitadels = ''] = /^ID=(\S+)/.exec(message) ?? [];
    const values = Object.entries(params).map(([name, value]) => `${name} ${value}`);
    return `error of ${type} ${id}: ${[zitadels, reason, ...values].filter((text) => text !== '').join(', ')}`;
  });
  const warned = summary.warnings.map(({ type, id = '', reason, message }) => `${reason} of ${type} ${id}: ${message}`);
  const { notCarried, failed: failures } = summary;
  const counted = Object.entries({ notCarried, failures }).map(([name, counts]) => `${name} ${JSON.stringify(counts)}`);
  return [...failed, ...warned, ...counted.filter((line) => !line.endsWith('{}'))].filter(
    (line) => !line.startsWith('manifest_missing'),
  );
}

/** An exported section, a record a line, without the hashes of clear passwords, which differ. */
function contentLines([name, value]: [string, unknown]): string[] {
  if (!isJsonObject(value) && !Array.isArray(value)) return [];
  const text = (record: unknown) => JSON.stringify(record).replace(/(?<=\$2b\$04\$).{53}/, '…');
  return [value].flat().map((record) => `stored ${name}: ${text(record)}`);
}

it('an import reports, stores and reports again what each row of the table has', async () => {
  const texts: string[] = [];
  for (const [title, { stored = [], orgs, request = {}, isV1 = false, file = {} }] of Object.entries(rows)) {
    const instance = await testInstance(await openTestStore(sqlite));
    const body = { ...request, [isV1 ? 'data_orgsv1' : 'data_orgs']: { ...file, orgs } };
    if (stored.length > 0) await instance.import({ data_orgs: { orgs: stored } });
    const tried = linesOf(await instance.import({ ...body, dry_run: true }));
    const lines = linesOf(await instance.import(body));
    expect(tried, title).toEqual(lines);
    const again = linesOf(await instance.import(body));
    const exported = (await instance.export()).orgs.flatMap(({ orgId: _, org: __, ...sections }) =>
      Object.entries(sections).flatMap(contentLines),
    );
    const when = (line: string) => (!again.includes(line) ? 'once' : lines.includes(line) ? 'each time' : 'again');
    const reported = [...new Set([...lines, ...again])].map((line) => `${when(line)}: ${line}`);
    texts.push([title, ...reported, ...exported].join('\n  '));
  }
  await expect(`${texts.join('\n\n')}\n`).toMatchFileSnapshot('../fixtures/import-warnings.txt');
});
