// Lists the rules in ZITADEL's message definitions that ZITADEL's stored records may break. ZITADEL checks these rules
// in requests, but not in imports from a bucket, in its own setup, or for users from identity providers (zitadel 3.3).
// So exports of ZITADEL may contain records that break these rules, and an import must accept such records.

import type { DescField } from '@bufbuild/protobuf';
import { internationalNumber } from './valueRules.ts';

const management = (message: string, fields: string): string[] =>
  fields.split(' ').map((field) => `zitadel.management.v1.${message}.${field}`);

/** The texts whose maximum length ZITADEL checks in every command that stores them. So no stored text is longer. */
const shortTexts: ReadonlySet<string> = new Set([
  // Hexadecimal colours are short, and ZITADEL's commands accept no others in these fields.
  ...management('AddCustomLabelPolicyRequest', 'primaryColor warnColor backgroundColor fontColor'),
  ...management('AddCustomLabelPolicyRequest', 'primaryColorDark warnColorDark backgroundColorDark fontColorDark'),
  // Phone numbers in E.164 are short, and ZITADEL's commands accept no others in this field.
  ...management('ImportHumanUserRequest.Phone', 'phone'),
]);

/**
 * The fields whose rules ZITADEL's commands do not check. A stored text in such a field may be empty, and a stored
 * duration may have any length.
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

/** True if no text that ZITADEL has stored in a field is longer than the maximum in the field's rule. */
export function keepsMaximum(field: DescField): boolean {
  return shortTexts.has(nameOf(field));
}

/**
 * True if all values that ZITADEL has stored in a field satisfy the minimum length or the range in the field's rule.
 */
export function keepsMinimum(field: DescField): boolean {
  return !openFields.has(nameOf(field));
}

/** True if an import changes a text so that it begins with the prefix that the field's rule requires. */
export function getsPrefix(field: DescField, text: string): boolean {
  return phones.has(nameOf(field)) && internationalNumber(text) !== undefined;
}
