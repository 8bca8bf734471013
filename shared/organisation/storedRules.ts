// Lists the rules in ZITADEL's message definitions that stored records may break. ZITADEL checks these rules only in
// requests. It does not check them in imports from a bucket, in its own setup, or for users from identity providers
// (zitadel 3.3). Exports of ZITADEL contain records that break these rules, so an import accepts such records.

import type { DescField } from '@bufbuild/protobuf';
import { internationalNumber } from './valueRules.ts';

const management = (message: string, fields: string): string[] =>
  fields.split(' ').map((field) => `zitadel.management.v1.${message}.${field}`);

/** The texts whose maximum length ZITADEL's commands enforce. So no stored text is longer. */
const shortTexts: ReadonlySet<string> = new Set([
  // The commands accept only hexadecimal colours, which are short.
  ...management('AddCustomLabelPolicyRequest', 'primaryColor warnColor backgroundColor fontColor'),
  ...management('AddCustomLabelPolicyRequest', 'primaryColorDark warnColorDark backgroundColorDark fontColorDark'),
  // The commands accept only phone numbers in E.164, which are short.
  ...management('ImportHumanUserRequest.Phone', 'phone'),
]);

/**
 * Fields whose rules ZITADEL's commands do not enforce: a stored text may be empty, and a stored duration may have any
 * length.
 */
const openFields: ReadonlySet<string> = new Set([
  ...management('AddMachineUserRequest', 'name'),
  ...management('AddProjectRoleRequest', 'displayName'),
  ...management('CreateActionRequest', 'script timeout'),
  ...management('AddOrgOIDCIDPRequest', 'clientId clientSecret issuer'),
  ...management('AddOrgJWTIDPRequest', 'jwtEndpoint issuer keysEndpoint headerName'),
  // ZITADEL ignores this field, because the policy already determines the organisation.
  'zitadel.admin.v1.AddCustomDomainPolicyRequest.orgId',
]);

const phones: ReadonlySet<string> = new Set(management('ImportHumanUserRequest.Phone', 'phone'));

function nameOf({ parent, jsonName }: DescField): string {
  return `${parent?.typeName}.${jsonName}`;
}

/** Whether all stored texts of a field satisfy the maximum length in the field's rule. */
export function keepsMaximum(field: DescField): boolean {
  return shortTexts.has(nameOf(field));
}

/** Whether all stored values of a field satisfy the minimum length, or the range, in the field's rule. */
export function keepsMinimum(field: DescField): boolean {
  return !openFields.has(nameOf(field));
}

/** Whether an import converts a text so that it begins with the prefix in the field's rule. */
export function getsPrefix(field: DescField, text: string): boolean {
  return phones.has(nameOf(field)) && internationalNumber(text) !== undefined;
}
