import type { JsonRecord } from '../../json/jsonObject.ts';
import type { RecordFault, Section } from '../section.ts';
import { identityProvider, own, policy } from '../sectionParts.ts';

/** The policies that an organisation may have of its own. */
export const policySections: readonly Section[] = [
  policy(
    'domainPolicy',
    'domain_policy',
    { id: 'ORG-1M8ds', key: 'Errors.Org.DomainPolicy.AlreadyExists' },
    { fixed: 'userLoginMustBeDomain' },
  ),
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
    // Providers of the instance are not carried, so the target has its own: the policy keeps naming them.
    {
      check: checkLoginPolicy,
      references: [own(identityProvider('idps[ownerType=IDP_OWNER_TYPE_ORG].idpId', 'Org-FEd32'))],
    },
  ),
  policy('passwordComplexityPolicy', 'password_complexity_policy', {
    id: 'Org-LdhbS',
    key: 'Errors.Org.PasswordComplexityPolicy.AlreadyExists',
  }),
  policy('privacyPolicy', 'privacy_policy', { id: 'Org-0oLpd', key: 'Errors.Org.PrivacyPolicy.AlreadyExists' }),
];

/** The colours of a label policy, in the order in which ZITADEL looks at them, and the id of each one's error. */
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

/** A label policy's colours are `#rgb` or `#rrggbb`, where it has them (contract 5.7). */
export function checkLabelPolicy(policy: JsonRecord): RecordFault | undefined {
  for (const [name, id] of colours) {
    const colour = policy[name] ?? '';
    if (typeof colour === 'string' && /^(#([a-f\d]{3}|[a-f\d]{6}))?$/i.test(colour)) continue;
    return { id, key: `Errors.Policy.Label.Invalid.${name.charAt(0).toUpperCase()}${name.slice(1)}` };
  }
  return undefined;
}

/** A login policy leads to a URI, and allows factors that there are (contract 5.7). */
export function checkLoginPolicy({
  defaultRedirectUri,
  secondFactors,
  multiFactors,
}: JsonRecord): RecordFault | undefined {
  if (!isRedirectUri(defaultRedirectUri)) return { id: 'Org-WSfdq', key: 'Errors.Org.LoginPolicy.RedirectURIInvalid' };
  const unspecified = 'Errors.Org.LoginPolicy.MFA.Unspecified';
  if (!areSpecified(secondFactors)) return { id: 'Org-SFeea', key: unspecified };
  return areSpecified(multiFactors) ? undefined : { id: 'Org-WSfrg', key: unspecified };
}

/** Empty, or with a scheme; http and https also with a host. */
function isRedirectUri(uri: unknown): boolean {
  if (typeof uri !== 'string') return uri === undefined;
  if (/^https?:/i.test(uri)) return /^https?:\/\/[^/?#]/i.test(uri) && URL.canParse(uri);
  return URL.canParse(uri);
}

/** A value that the enum does not know stands there as a number. */
function areSpecified(factors: unknown): boolean {
  const named: readonly unknown[] = Array.isArray(factors) ? factors : [];
  return named.every((factor) => typeof factor === 'string' && !factor.endsWith('_UNSPECIFIED'));
}
