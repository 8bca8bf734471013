// The rules of ZITADEL's message definitions that its stored records may break. A ZITADEL checks these rules in requests
// only: not in imports from a bucket, its set-up, or users that come from identity providers (zitadel 3.3). Its exports
// contain such records, so an import accepts them.

import type { DescField } from '@bufbuild/protobuf';

const management = (message: string, fields: string): string[] =>
  fields.split(' ').map((field) => `zitadel.management.v1.${message}.${field}`);

/** The texts of which ZITADEL's commands enforce a greatest length themselves. */
const shortTexts: ReadonlySet<string> = new Set([
  // Colours in hexadecimal digits.
  ...management('AddCustomLabelPolicyRequest', 'primaryColor warnColor backgroundColor fontColor'),
  ...management('AddCustomLabelPolicyRequest', 'primaryColorDark warnColorDark backgroundColorDark fontColorDark'),
  // A number in E.164.
  ...management('ImportHumanUserRequest.Phone', 'phone'),
]);

/** The texts that ZITADEL's commands accept empty, and the durations that they accept of any length. */
const openFields: ReadonlySet<string> = new Set([
  ...management('AddMachineUserRequest', 'name'),
  ...management('AddProjectRoleRequest', 'displayName'),
  ...management('CreateActionRequest', 'script timeout'),
  ...management('AddOrgOIDCIDPRequest', 'clientId clientSecret issuer'),
  ...management('AddOrgJWTIDPRequest', 'jwtEndpoint issuer keysEndpoint headerName'),
  // The policy's organisation counts: ZITADEL does not read the field.
  'zitadel.admin.v1.AddCustomDomainPolicyRequest.orgId',
]);

function nameOf({ parent, jsonName }: DescField): string {
  return `${parent?.typeName}.${jsonName}`;
}

/** Whether every stored text of a field keeps the greatest length of its rule. */
export function keepsMaximum(field: DescField): boolean {
  return shortTexts.has(nameOf(field));
}

/** Whether every stored value of a field keeps the least length, or the range, of its rule. */
export function keepsMinimum(field: DescField): boolean {
  return !openFields.has(nameOf(field));
}
