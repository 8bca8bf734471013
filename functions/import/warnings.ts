import { passwordHashFormat, passwordHashFormats } from '../../shared/auth/passwordHash.ts';
import type { ImportWarning } from '../../shared/contract/importAnswer.ts';
import { textAt, textsAt } from '../../shared/contract/jsonRecord.ts';
import type { OrganisationRecord } from '../../shared/contract/record.ts';

/** What to warn of in a record. */
export function warningsOf({ section, json, orgId, credentials }: OrganisationRecord): ImportWarning[] {
  const { passwordHash, totpSeed } = credentials;
  const id = section.error.id.map((path) => textAt(json, path, orgId)).join('_');
  const warn = (message: string): ImportWarning => ({ type: section.error.type, id, message });
  const ofInstance = section.name === 'loginPolicy' ? textsAt(json, PROVIDERS_OF_INSTANCE, orgId) : [];
  return [
    ...(ofInstance.length === 0 ? [] : [warn(`${NOT_CARRIED}: ${ofInstance.join(', ')}`)]),
    ...(passwordHash === undefined || passwordHashFormat(passwordHash) !== undefined ? [] : [warn(UNKNOWN_HASH)]),
    ...(totpSeed === undefined || /^[A-Z2-7]+=*$/.test(totpSeed) ? [] : [warn(NO_BASE32)]),
  ];
}

const PROVIDERS_OF_INSTANCE = 'idps[ownerType=IDP_OWNER_TYPE_SYSTEM].idpId';
const NOT_CARRIED =
  'identity providers of the instance are not imported, and users cannot log in with them unless the target has them';
const UNKNOWN_HASH = `unsupported password hash format, the user cannot log in with this password: supported formats are ${passwordHashFormats.join(', ')}`;
const NO_BASE32 = 'the TOTP seed is not base32: no authenticator app can generate its codes';
