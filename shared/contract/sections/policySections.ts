import { checkLabelPolicy, checkLoginPolicy } from '../policyChecks.ts';
import type { Section } from '../section.ts';
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
