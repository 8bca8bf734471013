import { type RecordWarning, warn } from '../../errors/warnings.ts';
import { isJsonObject, type JsonObject, textAt, textsAt } from '../../json/jsonObject.ts';
import { type DocumentKey, documentId } from '../../store/store.ts';
import { checkComplexityPolicy } from '../passwordRules.ts';
import { nameOrganisation } from '../recordBody.ts';
import type { KeyedIssue } from '../relations.ts';
import { droppedUnless, isEmailAddress } from '../valueRules.ts';
import { unexported } from '../zitadelFacts.ts';
import type { ImportedRecord, OwnProviders, Provider, Section, SectionName, ValueRule } from './section.ts';
import { identityProvider, own } from './sharedReferences.ts';

/**
 * The type of a claim on the scope of login names: in an organisation, login names are unique either in the
 * organisation or in the instance. The owner of the claim decides this.
 */
export const LOGIN_NAME_SCOPE = 'loginNameScope';

const domainPolicyExists: KeyedIssue = { id: 'ORG-1M8ds', key: 'Errors.Org.DomainPolicy.AlreadyExists' };

const lifetimes: Section['defaults'] = [
  'passwordCheckLifetime',
  'externalLoginCheckLifetime',
  'mfaInitSkipLifetime',
  'secondFactorCheckLifetime',
  'multiFactorCheckLifetime',
].map((path) => ({ path, value: '0s' }));

const colours = ['primaryColor', 'backgroundColor', 'warnColor', 'fontColor'].flatMap((name) => [name, `${name}Dark`]);

/**
 * Drops a reference to an identity provider if the owner type is missing or unspecified. Otherwise imports would reject
 * every export that contains the reference.
 */
const dropUnspecifiedOwner: ValueRule = (provider) => {
  if (!isJsonObject(provider) || provider.ownerType !== undefined) return { value: provider };
  return { dropped: [textAt(provider, 'idpId', '')] };
};

export const domainPolicySection = policy('domainPolicy', 'domain_policy', domainPolicyExists, {
  v1: { aliases: ['iamPolicy'] },
  fixed: ['userLoginMustBeDomain'],
  unique: [
    {
      type: LOGIN_NAME_SCOPE,
      parts: [],
      perOrganisation: true,
      onlyIfLoginNamesChange: 'userLoginMustBeDomain',
      taken: domainPolicyExists,
    },
  ],
  canonicalise: nameOrganisation,
  repeated: { field: 'orgId', by: '$orgId' },
  zitadel: {
    records: [
      {
        does: 'adds',
        text: "the domain policy of ZITADEL's instance applies, because the organisation has none",
        when: (_id, { isTarget }) => isTarget,
      },
    ],
  },
});

export function requiresValidation({ validateOrgDomains }: JsonObject): boolean {
  return validateOrgDomains === true;
}

export const passwordPolicySection = policy(
  'passwordComplexityPolicy',
  'password_complexity_policy',
  { id: 'Org-LdhbS', key: 'Errors.Org.PasswordComplexityPolicy.AlreadyExists' },
  { check: checkComplexityPolicy },
);

export const policySections: readonly Section[] = [
  domainPolicySection,
  policy(
    'labelPolicy',
    'label_policy',
    { id: 'Org-2B0ps', key: 'Errors.Org.LabelPolicy.AlreadyExists' },
    {
      optional: ['hideLoginNameSuffix', 'disableWatermark'],
      values: Object.fromEntries(colours.map((name) => [name, droppedUnless(isColour)])),
      zitadel: {
        fields: [unexported('themeMode')],
        unexported: ['logos, icons and fonts', 'label policies that are not activated'],
      },
    },
  ),
  policy('lockoutPolicy', 'lockout_policy', { id: 'ORG-0olDf', key: 'Errors.ORG.LockoutPolicy.AlreadyExists' }),
  policy(
    'loginPolicy',
    'login_policy',
    { id: 'Org-Dgfb2', key: 'Errors.Org.LoginPolicy.AlreadyExists' },
    {
      values: {
        defaultRedirectUri: droppedUnless(isRedirectUri),
        'secondFactors[]': droppedUnless(isSpecified),
        'multiFactors[]': droppedUnless(isSpecified),
        'idps[]': dropUnspecifiedOwner,
      },
      needed: ['secondFactors', 'multiFactors', 'passwordlessType'],
      v1: { lists: { secondFactors: toFactor, multiFactors: toFactor, idps: (provider) => provider } },
      exported: {
        providers: (policy) => textsAt(policy, 'idps[].idpId', ''),
        fill: fillOwnerTypes,
        withoutFilled: withoutOwnerTypes,
        keepProviders: keepIdps,
      },
      defaults: lifetimes,
      zitadel: {
        fields: [unexported('allowDomainDiscovery', 'disableLoginWithEmail', 'disableLoginWithPhone')],
        missingProviders: {
          reason: 'providers_missing_in_policy',
          text: 'the login policy is imported without the identity providers that the export does not contain',
          remedy: 'create {providers} in the target, and add these providers to the login policy',
        },
      },
      zitadelStep: 'login policies',
      warnings: warnOfInstanceProviders,
      // Exports do not contain the providers of the instance. So imports check only the references to providers of the
      // organisation.
      references: [
        {
          ...own(identityProvider('idps[ownerType=IDP_OWNER_TYPE_ORG].idpId', 'Org-FEd32')),
          keptIfMissing: 'provider_missing',
        },
      ],
    },
  ),
  passwordPolicySection,
  policy(
    'privacyPolicy',
    'privacy_policy',
    { id: 'Org-0oLpd', key: 'Errors.Org.PrivacyPolicy.AlreadyExists' },
    { values: { supportEmail: droppedUnless((address) => address === '' || isEmailAddress(address)) } },
  ),
];

export function policyKey(orgId: string, { collection, name }: Section): DocumentKey {
  return { collection, id: documentId(orgId, name) };
}

type PolicyOptions = Omit<Partial<Section>, 'name' | 'collection' | 'phase' | 'key' | 'error'>;

/**
 * Creates the section of a policy. An organisation has at most one record in such a section, because the key of the
 * record consists of the organisation's id and the section's name.
 */
function policy(name: SectionName, type: string, exists: KeyedIssue, options: PolicyOptions = {}): Section {
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

const listed = (idps: unknown): JsonObject[] => (Array.isArray(idps) ? idps.filter(isJsonObject) : []);

function fillOwnerTypes(
  policy: JsonObject,
  orgId: string,
  findProvider: (id: string) => Provider | undefined,
): JsonObject | undefined {
  const isMistyped = (idp: JsonObject) =>
    findProvider(textAt(idp, 'idpId', ''))?.orgId === orgId && idp.ownerType !== 'IDP_OWNER_TYPE_ORG';
  const idps = listed(policy.idps);
  if (!idps.some(isMistyped)) return undefined;
  return { ...policy, idps: idps.map((idp) => (isMistyped(idp) ? { ...idp, ownerType: 'IDP_OWNER_TYPE_ORG' } : idp)) };
}

/**
 * Removes the owner type from references to the organisation's own identity providers, so that a stored record equals
 * an exported record in a comparison. Exports add the owner type.
 */
function withoutOwnerTypes({ idps, ...policy }: JsonObject, isOwnProvider: OwnProviders): JsonObject {
  if (idps === undefined) return policy;
  const others = listed(idps).map((idp) => {
    const { ownerType: _, ...ownProvider } = idp;
    return isOwnProvider(textAt(idp, 'idpId', '')) ? ownProvider : idp;
  });
  return { ...policy, idps: others };
}

function keepIdps(policy: JsonObject, isKept: (id: string) => boolean): void {
  const kept = listed(policy.idps).filter((idp) => isKept(textAt(idp, 'idpId', '')));
  // Canonical JSON never contains an empty list. Remove the list if it is empty, because otherwise the record's digest
  // would not match the manifest.
  if (kept.length === 0) delete policy.idps;
  else policy.idps = kept;
}

function toFactor(element: unknown): unknown {
  return isJsonObject(element) ? element.type : element;
}

function warnOfInstanceProviders({ json, orgId }: ImportedRecord): readonly RecordWarning[] {
  const providers = textsAt(json, 'idps[ownerType=IDP_OWNER_TYPE_SYSTEM].idpId', orgId);
  if (providers.length === 0) return [];
  return [warn('providers_not_exported', { providers })];
}

function isColour(text: string): boolean {
  return /^(#([a-f\d]{3}|[a-f\d]{6}))?$/i.test(text);
}

/** Whether a text is a redirect URI. With the scheme http or https, the URI must also have a host. */
function isRedirectUri(uri: string): boolean {
  if (/^https?:/i.test(uri)) return /^https?:\/\/[^/?#]/i.test(uri) && URL.canParse(uri);
  return URL.canParse(uri);
}

function isSpecified(factor: string): boolean {
  return !factor.endsWith('_UNSPECIFIED');
}
