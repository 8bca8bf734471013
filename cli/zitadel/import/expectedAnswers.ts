/** An entry of the `errors` of ZITADEL's import. */
export interface ImportError {
  readonly type: string;
  readonly id?: string | undefined;
  /** `ID=<id> Message=<key>`, in older releases with a tail. */
  readonly message: string;
}

/** How an error is to be taken. */
export type ErrorKind =
  /** A consequence of how ZITADEL imports: nothing is missing. */
  | 'expected'
  /** The record exists, and stays as it is: a comparison shows whether it is equal. */
  | 'existing'
  /** The record is missing, or is not as it should be. */
  | 'real';

/** The ids of ZITADEL's errors that say that the record exists, by type (zitadel 5.7). */
const existingIds: Readonly<Record<string, readonly string[]>> = {
  org: ['ORG-lapo2n', 'ORG-lapo2m'],
  domain_policy: ['ORG-1M8ds'],
  domain: ['V2-e1wse'],
  label_policy: ['Org-2B0ps'],
  lockout_policy: ['ORG-0olDf'],
  oidc_idp: ['Org-1J8fs'],
  jwt_idp: ['Org-1J8fs'],
  login_policy: ['Org-Dgfb2'],
  password_complexity_policy: ['Org-LdhbS'],
  privacy_policy: ['Org-0oLpd'],
  human_user: ['COMMAND-ziuna'],
  human_user_otp: ['COMMAND-do9se'],
  machine_user: ['COMMAND-k2una'],
  machine_user_key: ['COMMAND-091mops'],
  user_link: ['V3-DKcYh'],
  project: ['COMMAND-opamwu'],
  project_role: ['V3-DKcYh'],
  oidc_app: ['PROJECT-lxowmp'],
  api_app: ['PROJECT-mabu12'],
  app_key: ['COMMAND-so20alo'],
  action: ['COMMAND-nau2k'],
  trigger_action: ['COMMAND-Nfh52'],
  project_grant: ['V3-DKcYh'],
  user_grant: ['V3-DKcYh'],
  org_member: ['ORG-poWwe'],
  project_member: ['PROJECT-PtXi1'],
  project_grant_member: ['PROJECT-37fug'],
};

/** What the command knows of the request that an error answers. */
export interface RequestFacts {
  /** Whether the request, or a part of it, was sent before without an answer. */
  readonly isRepeat: boolean;
  /** The organisations that the request was to create. Others exist, which is an error as well. */
  readonly creates: ReadonlySet<string>;
  /** The host of the target, of which ZITADEL makes each organisation's automatic domain. */
  readonly host: string;
}

/** Decides how an error of an import is to be taken. */
export function errorKind({ type, id = '', message }: ImportError, facts: RequestFacts): ErrorKind {
  const { isRepeat, creates, host } = facts;
  // With the default policy, adding a domain verifies it, and verifying it once more fails.
  if (type === 'domain_isverified' && message.startsWith('ID=V3-DKcYh')) return 'expected';
  const [, errorId = ''] = /^ID=(\S+)/.exec(message) ?? [];
  if (existingIds[type]?.includes(errorId) !== true) return 'real';
  const isAutomaticDomain = type === 'domain' && id.endsWith(`.${host}`);
  return isRepeat || isAutomaticDomain || (type === 'org' && !creates.has(id)) ? 'expected' : 'existing';
}

/** Whether ZITADEL refuses an organisation, with all of its content. */
export function isRefusedOrganisation(error: ImportError): boolean {
  return error.type === 'org' && existingIds.org?.some((id) => error.message.startsWith(`ID=${id}`)) !== true;
}
