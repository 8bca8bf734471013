import { type JsonObject, textAt, textsAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { humanUserSection } from '../../../shared/organisation/sections/users.ts';
import { hasStates, type Release } from './behaviour.ts';
import { type Contents, elements, newId } from './contents.ts';
import { fillIn } from './fillIn.ts';

/** An import in ZITADEL's way: in three phases over all organisations, in their order, without retries. */
export interface ImportRun {
  readonly contents: Contents;
  /** The organisation in whose context ZITADEL handles the request. */
  readonly contextOrgId: string;
  readonly host: string;
  /**
   * The user of the token, who becomes owner of each organisation that the import creates. Undefined for the imports of
   * others.
   */
  readonly callerId?: string;
  readonly release: Release;
  /** Whether the instance's domain policy requires that login names are unique within the organisation. */
  readonly loginNamesByDomain: boolean;
  /** Whether another import creates a user between the checks of its id and of its login name. */
  readonly races?: ((userId: string) => boolean) | undefined;
  /** Whether the import drops a record without an error. */
  readonly drops?: (record: { readonly section: string }) => boolean;
  /** Called before each write. Ends the import by throwing. */
  readonly write: () => void;
}

/** The context of one record. */
interface Given {
  readonly run: ImportRun;
  readonly orgId: string;
  readonly json: JsonObject;
}

/** ZITADEL's import of a section (zitadel 5), as far as it affects migrations. */
export interface Row {
  readonly section: string;
  readonly type: string;
  /** The fields of the key and of the reported id. */
  readonly id: readonly string[];
  readonly key?: readonly string[];
  readonly exists: string;
  /** Returns ZITADEL's error if it does not import the record. */
  readonly refuses?: (given: Given) => string | undefined;
  readonly stored?: (given: Given) => JsonObject;
}

const user =
  (path: string, message: string) =>
  ({ run, json, orgId }: Given) =>
    run.contents.users.has(textAt(json, path, orgId)) ? undefined : message;
const lacks =
  (section: string, path: string, message: string) =>
  ({ run, json, orgId }: Given) =>
    run.contents.find(orgId, section, textAt(json, path, orgId)) === undefined ? message : undefined;
const provider = ({ run, orgId }: Given, id: string) =>
  run.contents.find(orgId, 'oidcIdps', id) ?? run.contents.find(orgId, 'jwtIdps', id);
/** A row whose id has some fields. */
const row = (section: string, type: string, id: string, exists: string, more: Partial<Row> = {}): Row => ({
  section,
  type,
  id: id.split(' '),
  exists,
  ...more,
});
const policy = (section: string, type: string, exists: string) => row(section, type, '$orgId', exists);
const text = (section: string, type: string) => row(section, type, '$orgId language', '');
/** The id and the beginning of the key in an error about a name that another record has. */
export const ALREADY = 'ID=V3-DKcYh Message=Errors';

/** The sections of the first phase, in the order of work. */
export const firstPhase: readonly Row[] = [
  policy('domainPolicy', 'domain_policy', 'ID=ORG-1M8ds Message=Errors.Org.DomainPolicy.AlreadyExists'),
  row('domains', 'domain', '$orgId domainName', 'ID=V2-e1wse Message=Errors.Already.Exists', {
    key: ['domainName'],
    // An export contains an unverified domain as verified, unless the organisation's policy validates domains.
    stored: ({ run, orgId, json: { validationType: _, ...kept } }) =>
      run.contents.find(orgId, 'domainPolicy', orgId)?.validateOrgDomains === true
        ? kept
        : { ...kept, isVerified: true },
  }),
  policy('labelPolicy', 'label_policy', 'ID=Org-2B0ps Message=Errors.Org.LabelPolicy.AlreadyExists'),
  policy('lockoutPolicy', 'lockout_policy', 'ID=ORG-0olDf Message=Errors.ORG.LockoutPolicy.AlreadyExists'),
  row('oidcIdps', 'oidc_idp', 'idpId', 'ID=Org-1J8fs Message=Errors.Org.IDPConfig.AlreadyExisting'),
  row('jwtIdps', 'jwt_idp', 'idpId', 'ID=Org-1J8fs Message=Errors.Org.IDPConfig.AlreadyExisting'),
  {
    ...policy('loginPolicy', 'login_policy', 'ID=Org-Dgfb2 Message=Errors.Org.LoginPolicy.AlreadyExists'),
    refuses: (given) =>
      textsAt(given.json, 'idps[].idpId', '').every((id) => provider(given, id) !== undefined)
        ? undefined
        : 'ID=Org-FEd32 Message=Errors.IDPConfig.NotExisting',
  },
  policy(
    'passwordComplexityPolicy',
    'password_complexity_policy',
    'ID=Org-LdhbS Message=Errors.Org.PasswordComplexityPolicy.AlreadyExists',
  ),
  policy('privacyPolicy', 'privacy_policy', 'ID=Org-0oLpd Message=Errors.Org.PrivacyPolicy.AlreadyExists'),
  text('loginTexts', 'login_texts'),
  row('humanUsers', 'human_user', 'userId', 'ID=COMMAND-ziuna Message=Errors.User.AlreadyExisting', {
    refuses: (given) =>
      loginNameRefusal(given) ??
      (given.run.release === '2026-07' ? hashRefusal(given.json) : undefined) ??
      (given.run.release === '2.71' ? addressRefusal(given.json) : undefined),
    stored: ({ run, json }) => importedPerson(withState(run, json)),
  }),
  row('machineUsers', 'machine_user', 'userId', 'ID=COMMAND-k2una Message=Errors.User.AlreadyExisting', {
    refuses: loginNameRefusal,
    // Imports read the id from the inner record only, and exports write it to the outer record only.
    stored: ({ run, json }) => {
      const { userId, ...inner } = elements(json.user)[0] ?? {};
      const { state = 'USER_STATE_ACTIVE' } = withState(run, json);
      return { ...json, userId: userId ?? newId(), user: inner, state };
    },
  }),
  row('userMetadata', 'user_metadata', 'id key', '', {
    refuses: user('id', 'ID=COMMAND-uXHNj Message=Errors.User.NotFound'),
  }),
  row('machineKeys', 'machine_user_key', 'keyId', 'ID=COMMAND-091mops Message=Errors.User.Machine.Key.AlreadyExists', {
    refuses: user('userId', 'ID=COMMAND-bnipwm1 Message=Errors.User.NotFound'),
  }),
  row('userLinks', 'user_link', 'userId idpId', `${ALREADY}.User.ExternalIDP.AlreadyExists`, {
    refuses: (given) =>
      provider(given, textAt(given.json, 'idpId', '')) === undefined
        ? 'ID=COMMAND-39nf2 Message=Errors.IDPConfig.NotExisting'
        : user('userId', 'ID=COMMAND-vzktar7b7f Message=Errors.User.NotFound')(given),
  }),
  row('projects', 'project', 'projectId', 'ID=COMMAND-opamwu Message=Errors.Project.AlreadyExisting'),
  row('oidcApps', 'oidc_app', 'appId', 'ID=PROJECT-lxowmp Message=Errors.Project.App.AlreadyExisting', {
    refuses: (given) =>
      given.run.release === '2026-07' && valueAt(given.json, 'app.backChannelLogoutUri') !== undefined
        ? 'ID=PROJECT-msNebo Message=Errors.Project.App.Blocked.BackchannelLogoutURL'
        : lacks('projects', 'app.projectId', 'ID=COMMAND-EbFMN Message=Errors.Project.NotFound')(given),
  }),
  row('apiApps', 'api_app', 'appId', 'ID=PROJECT-mabu12 Message=Errors.Project.App.AlreadyExisting', {
    refuses: lacks('projects', 'app.projectId', 'ID=COMMAND-EbFMN Message=Errors.Project.NotFound'),
  }),
  row('appKeys', 'app_key', 'id', 'ID=COMMAND-so20alo Message=Errors.Project.App.Key.AlreadyExisting'),
  row('actions', 'action', 'actionId', 'ID=COMMAND-nau2k Message=Errors.Action.AlreadyExisting'),
  row('projectRoles', 'project_role', 'projectId roleKey', `${ALREADY}.Project.Role.AlreadyExists`, {
    refuses: lacks('projects', 'projectId', 'ID=COMMAND-EbFMN Message=Errors.Project.NotFound'),
  }),
];

/** The sections of the second phase. */
export const secondPhase: readonly Row[] = [
  row('triggerActions', 'trigger_action', 'flowType triggerType', 'ID=COMMAND-Nfh52 Message=Errors.Flow.NoChanges', {
    stored: ({ json }) => ({ ...json, flowType: idOfType(json.flowType), triggerType: idOfType(json.triggerType) }),
  }),
  row(
    'projectGrants',
    'project_grant',
    '$orgId projectGrant.projectId projectGrant.grantedOrgId',
    `${ALREADY}.Project.Grant.AlreadyExists`,
    {
      key: ['grantId'],
      refuses: (given) =>
        given.run.contents.organisations.has(textAt(given.json, 'projectGrant.grantedOrgId', ''))
          ? lacks('projects', 'projectGrant.projectId', 'ID=COMMAND-m9gsd Message=Errors.Project.NotFound')(given)
          : 'ID=COMMAND-3m9gg Message=Errors.Org.NotFound',
    },
  ),
  row('userGrants', 'user_grant', '$orgId projectId userId', `${ALREADY}.UserGrant.AlreadyExists`, {
    refuses: (given) => {
      const grantId = textAt(given.json, 'projectGrantId', '');
      if (grantId !== '' && !given.run.contents.holds('projectGrants', grantId))
        return 'ID=COMMAND-4m9ff Message=Errors.Project.Grant.NotFound';
      return user('userId', 'ID=COMMAND-4f8sg Message=Errors.User.NotFound')(given);
    },
  }),
];

/** The sections of the third phase. */
export const thirdPhase: readonly Row[] = [
  row('orgMembers', 'org_member', '$orgId userId', 'ID=ORG-poWwe Message=Errors.Org.Member.AlreadyExists', {
    key: ['userId'],
    refuses: user('userId', 'ID=ORG-GoXOn Message=Errors.User.NotFound'),
  }),
  row(
    'projectGrantMembers',
    'project_grant_member',
    '$orgId projectId grantId userId',
    'ID=PROJECT-37fug Message=Errors.AlreadyExists',
    {
      key: ['projectId', 'grantId', 'userId'],
      refuses: user('userId', 'ID=COMMAND-uXHNj Message=Errors.User.NotFound'),
    },
  ),
  row(
    'projectMembers',
    'project_member',
    '$orgId projectId userId',
    'ID=PROJECT-PtXi1 Message=Errors.Project.Member.AlreadyExists',
    {
      refuses: (given) =>
        user('userId', 'ID=COMMAND-uXHNj Message=Errors.User.NotFound')(given) ??
        lacks('projects', 'projectId', 'ID=PROJECT-0l10S9OmZV Message=Errors.Project.NotFound')(given),
    },
  ),
];

/** Returns the error about a person's hash. By default, ZITADEL accepts only bcrypt with a cost from 10 to 16. */
function hashRefusal(json: JsonObject): string | undefined {
  const hash = textAt(json, 'user.hashedPassword.value', '');
  if (hash === '' || /^\$2[aby]\$1[0-6]\$/.test(hash)) return undefined;
  return hash.startsWith('$2')
    ? 'ID=CRYPT-5uV9n Message=Errors.User.Password.Invalid'
    : 'ID=CRYPT-r8Qm2 Message=Errors.User.Password.Invalid';
}

/** Returns the error about an e-mail address with letters outside ASCII. */
function addressRefusal(json: JsonObject): string | undefined {
  const isAscii = /^\p{ASCII}*$/u.test(textAt(json, 'user.email.email', ''));
  return isAscii ? undefined : 'ID=EMAIL-599BI Message=Errors.User.Email.Invalid';
}

function loginNameRefusal({ run, orgId, json }: Given): string | undefined {
  const isTaken = run.contents.isLoginNameTaken(textAt(json, 'user.userName', orgId), loginNameScope(run, orgId));
  return isTaken ? `${ALREADY}.User.AlreadyExists` : undefined;
}

/** Returns the organisation in which its login names are unique; empty for the whole instance. */
export function loginNameScope({ contents, loginNamesByDomain }: ImportRun, orgId: string): string {
  const policy = contents.find(orgId, 'domainPolicy', orgId);
  const isByDomain = policy === undefined ? loginNamesByDomain : policy.userLoginMustBeDomain === true;
  return isByDomain ? orgId : '';
}

/** Returns a user as a release reads it. A release that does not import states skips the field. */
function withState({ release }: ImportRun, { state, ...json }: JsonObject): JsonObject {
  return hasStates(release) && state !== undefined ? { ...json, state } : json;
}

const typeIds = new Map<unknown, string>([
  ['FLOW_TYPE_EXTERNAL_AUTHENTICATION', '1'],
  ['TRIGGER_TYPE_POST_AUTHENTICATION', '1'],
  ['TRIGGER_TYPE_PRE_CREATION', '2'],
  ['TRIGGER_TYPE_POST_CREATION', '3'],
]);

/** Returns the id of a flow or a trigger. An import may contain its name. */
function idOfType(type: unknown): unknown {
  return typeIds.get(type) ?? type;
}

const HASH_OF_A_PASSWORD = `$2a$14$${'0123456789012345678901u'.padEnd(53, 'B')}`;

/**
 * Returns a person as ZITADEL imports it. Adds a missing display name and language, and hashes a clear password. Keeps
 * the states INACTIVE and LOCKED. Any other person becomes ACTIVE, or INITIAL without a password or with an unverified
 * address. Without a password, the address becomes unverified.
 */
function importedPerson(given: JsonObject): JsonObject {
  const json = structuredClone(given);
  fillIn(humanUserSection.filled ?? [], json);
  const inner = elements(json.user)[0] ?? {};
  const { idps: _, otpCode: _seed, password, ...others } = inner;
  const hashedPassword = inner.hashedPassword ?? (password === undefined ? undefined : { value: HASH_OF_A_PASSWORD });
  const kept = { ...others, ...(hashedPassword !== undefined ? { hashedPassword } : {}) };
  const hasPassword = valueAt(kept, 'hashedPassword.value') !== undefined;
  const email = elements(inner.email)[0] ?? {};
  const isKept = ['USER_STATE_INACTIVE', 'USER_STATE_LOCKED'].includes(textAt(json, 'state', ''));
  const imported = email.isEmailVerified === true ? 'USER_STATE_ACTIVE' : 'USER_STATE_INITIAL';
  if (hasPassword) return { ...json, user: kept, ...(isKept ? {} : { state: imported }) };
  const { isEmailVerified: _verified, ...unverified } = email;
  return { ...json, ...(isKept ? {} : { state: 'USER_STATE_INITIAL' }), user: { ...kept, email: unverified } };
}
