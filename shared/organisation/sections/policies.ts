import { isJsonObject, type JsonObject, textAt, textsAt } from '../../json/jsonObject.ts';
import { type DocumentKey, documentId } from '../../store/store.ts';
import { fillIn } from '../filledFields.ts';
import { checkComplexityPolicy } from '../passwords.ts';
import { nameOrganisation } from '../recordBody.ts';
import type { RecordIssue } from '../relations.ts';
import type { ImportedRecord, OwnProviders, Provider, Section } from '../section.ts';
import { emailInvalid, isPlainEmailAddress } from '../valueRules.ts';
import type { RecordWarning } from '../warnings.ts';
import { identityProvider, own } from './references.ts';

/** The type of the claim that settles the scope of an organisation's login names. */
export const LOGIN_NAME_SCOPE = 'loginNameScope';

const domainPolicyExists: RecordIssue = { id: 'ORG-1M8ds', key: 'Errors.Org.DomainPolicy.AlreadyExists' };

const loginPolicyFields = [
  ...[
    'allowUsernamePassword',
    'allowRegister',
    'allowExternalIdp',
    'forceMfa',
    'passwordlessType',
    'hidePasswordReset',
  ],
  ...['ignoreUnknownUsernames', 'defaultRedirectUri', 'passwordCheckLifetime', 'externalLoginCheckLifetime'],
  ...['mfaInitSkipLifetime', 'secondFactorCheckLifetime', 'multiFactorCheckLifetime', 'secondFactors', 'multiFactors'],
  ...['idps', 'allowDomainDiscovery', 'disableLoginWithEmail', 'disableLoginWithPhone', 'forceMfaLocalOnly'],
];

/** The section of the policy about login names and domains. */
export const domainPolicySection = policy('domainPolicy', 'domain_policy', domainPolicyExists, {
  v1: { aliases: ['iamPolicy'] },
  fixed: ['userLoginMustBeDomain'],
  unique: [
    {
      type: LOGIN_NAME_SCOPE,
      parts: [],
      perOrganisation: true,
      onlyIf: 'userLoginMustBeDomain',
      taken: domainPolicyExists,
    },
  ],
  canonicalise: nameOrganisation,
});

/** The section of the policy about clear-text passwords. */
export const passwordPolicySection = policy(
  'passwordComplexityPolicy',
  'password_complexity_policy',
  { id: 'Org-LdhbS', key: 'Errors.Org.PasswordComplexityPolicy.AlreadyExists' },
  { check: checkComplexityPolicy },
);

/** The sections of an organisation's policies. */
export const policySections: readonly Section[] = [
  domainPolicySection,
  policy(
    'labelPolicy',
    'label_policy',
    { id: 'Org-2B0ps', key: 'Errors.Org.LabelPolicy.AlreadyExists' },
    { check: checkLabelPolicy },
  ),
  policy('lockoutPolicy', 'lockout_policy', { id: 'ORG-0olDf', key: 'Errors.ORG.LockoutPolicy.AlreadyExists' }),
  policy(
    'loginPolicy',
    'login_policy',
    { id: 'Org-Dgfb2', key: 'Errors.Org.LoginPolicy.AlreadyExists' },
    {
      check: checkLoginPolicy,
      v1: { lists: { secondFactors: toFactor, multiFactors: toFactor, idps: (provider) => provider } },
      exported: {
        order: { fields: loginPolicyFields },
        providers: (policy) => textsAt(policy, 'idps[].idpId', ''),
        fill: fillLoginPolicy,
        withoutFilled: withoutOwnerTypes,
        keepProviders: keepIdps,
      },
      zitadelStep: 'login policies',
      warnings: warnOfInstanceProviders,
      // Exports do not contain the instance's own providers: the policy keeps its references to them unchecked.
      references: [
        {
          ...own(identityProvider('idps[ownerType=IDP_OWNER_TYPE_ORG].idpId', 'Org-FEd32')),
          keptIfMissing: 'users cannot log in with an identity provider until the target has it',
        },
      ],
    },
  ),
  passwordPolicySection,
  policy(
    'privacyPolicy',
    'privacy_policy',
    { id: 'Org-0oLpd', key: 'Errors.Org.PrivacyPolicy.AlreadyExists' },
    { check: checkPrivacyPolicy },
  ),
];

/** Returns the key of an organisation's policy. */
export function policyKey(orgId: string, { collection, name }: Section): DocumentKey {
  return { collection, id: documentId(orgId, name) };
}

/** Creates the section of a policy: a single object, identified by its organisation. */
function policy(name: string, type: string, exists: RecordIssue, options: Partial<Section> = {}): Section {
  return {
    name,
    collection: 'settings',
    phase: options.references === undefined ? 1 : 2,
    zitadelStep: 'policies and domains',
    key: ['$orgId', `=${name}`],
    ...options,
    error: { type, id: ['$orgId'], exists },
  };
}

/** Checks that the support's e-mail address, if there is one, is plain. */
function checkPrivacyPolicy(policy: JsonObject): RecordIssue | undefined {
  const address = textAt(policy, 'supportEmail', '');
  return address === '' || isPlainEmailAddress(address) ? undefined : emailInvalid;
}

const listed = (idps: unknown): JsonObject[] => (Array.isArray(idps) ? idps.filter(isJsonObject) : []);

/** Fills in the defaults, and the owner's type of the organisation's own identity providers. */
function fillLoginPolicy(
  policy: JsonObject,
  orgId: string,
  findProvider: (id: string) => Provider | undefined,
): boolean {
  const mistyped = listed(policy.idps).filter(
    (idp) => findProvider(textAt(idp, 'idpId', ''))?.orgId === orgId && idp.ownerType !== 'IDP_OWNER_TYPE_ORG',
  );
  for (const idp of mistyped) idp.ownerType = 'IDP_OWNER_TYPE_ORG';
  return fillIn('loginPolicy', policy, 'exports') || mistyped.length > 0;
}

/** Removes the owner's type of the organisation's own identity providers, which exports derive. */
function withoutOwnerTypes({ idps, ...policy }: JsonObject, isOwnProvider: OwnProviders): JsonObject {
  if (idps === undefined) return policy;
  const others = listed(idps).map((idp) => {
    const { ownerType: _, ...own } = idp;
    return isOwnProvider(textAt(idp, 'idpId', '')) ? own : idp;
  });
  return { ...policy, idps: others };
}

function keepIdps(policy: JsonObject, isKept: (id: string) => boolean): void {
  const kept = listed(policy.idps).filter((idp) => isKept(textAt(idp, 'idpId', '')));
  // A canonical record has no empty list, and the manifest has the digest of the canonical record.
  if (kept.length === 0) delete policy.idps;
  else policy.idps = kept;
}

function toFactor(element: unknown): unknown {
  return isJsonObject(element) ? element.type : element;
}

function warnOfInstanceProviders({ json, orgId }: ImportedRecord): readonly RecordWarning[] {
  const providers = textsAt(json, 'idps[ownerType=IDP_OWNER_TYPE_SYSTEM].idpId', orgId);
  if (providers.length === 0) return [];
  const message = `identity providers of the instance, and an organisation's own other than generic OIDC and JWT, are in no export, and users cannot log in with them unless the target has them: ${providers.join(', ')}`;
  return [{ reason: 'providers_not_exported', message }];
}

/** The colours of a label policy with the ids of their errors, in the order of ZITADEL's checks. */
const colours = [
  ['primaryColor', 'POLICY-391dG'],
  ['backgroundColor', 'POLICY-502F1'],
  ['warnColor', 'POLICY-nvw33'],
  ['fontColor', 'POLICY-93mSf'],
  ['primaryColorDark', 'POLICY-391dG'],
  ['backgroundColorDark', 'POLICY-llsp2'],
  ['warnColorDark', 'POLICY-2b6sf'],
  ['fontColorDark', 'POLICY-3M0fs'],
] as const;

/** Checks that a label policy's colours, if set, are `#rgb` or `#rrggbb` (zitadel 5.7). */
function checkLabelPolicy(policy: JsonObject): RecordIssue | undefined {
  for (const [name, id] of colours) {
    const colour = policy[name] ?? '';
    if (typeof colour === 'string' && /^(#([a-f\d]{3}|[a-f\d]{6}))?$/i.test(colour)) continue;
    return { id, key: `Errors.Policy.Label.Invalid.${name.charAt(0).toUpperCase()}${name.slice(1)}` };
  }
  return undefined;
}

/** Checks a login policy's redirect URI, and that its factors are specified (zitadel 5.7). */
function checkLoginPolicy({ defaultRedirectUri, secondFactors, multiFactors }: JsonObject): RecordIssue | undefined {
  if (!isRedirectUri(defaultRedirectUri)) return { id: 'Org-WSfdq', key: 'Errors.Org.LoginPolicy.RedirectURIInvalid' };
  const unspecified = 'Errors.Org.LoginPolicy.MFA.Unspecified';
  if (!areSpecified(secondFactors)) return { id: 'Org-SFeea', key: unspecified };
  return areSpecified(multiFactors) ? undefined : { id: 'Org-WSfrg', key: unspecified };
}

/** Whether a redirect URI is absent or valid: with a scheme, and for http and https with a host. */
function isRedirectUri(uri: unknown): boolean {
  if (typeof uri !== 'string') return uri === undefined;
  if (/^https?:/i.test(uri)) return /^https?:\/\/[^/?#]/i.test(uri) && URL.canParse(uri);
  return URL.canParse(uri);
}

/** Whether all factors are known and specified; JSON represents an unknown enum value as a number. */
function areSpecified(factors: unknown): boolean {
  const named: readonly unknown[] = Array.isArray(factors) ? factors : [];
  return named.every((factor) => typeof factor === 'string' && !factor.endsWith('_UNSPECIFIED'));
}
