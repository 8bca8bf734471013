import type { z } from 'zod';
import type { AuditedCall } from '../../shared/audit/audit.ts';
import { MAX_RECORDED_CHARACTERS, organisationFacts } from '../../shared/audit/auditEvent.ts';
import { type Caller, readUserAs } from '../../shared/auth/authorise.ts';
import { domainLength, otpEmailNotSet, userIdLength, userNotFound } from '../../shared/errors/errors.ts';
import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import { factorFields } from '../../shared/organisation/factors.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import { userKey } from '../../shared/store/documentKeys.ts';
import type { Store } from '../../shared/store/store.ts';
import {
  authenticationMethodType,
  domainParameter,
  type MethodsRequest,
  type MethodsResponse,
  type OperationDetails,
  userIdParameter,
} from './contract.ts';

const userFields: readonly FieldName[] = ['orgId', 'body', 'otpEmail', 'sequence', 'createdAt'];

/**
 * Removes a user's OTP e-mail factor in one transaction (specification 4.1). Users can remove their own factor. Other
 * callers need `user.write` on the user's organisation or on the instance. Checks the permission before existence, so
 * that an error does not reveal whether a user exists.
 * @param audited records the removal in the same commit. If the audit trail is outside the database, records the
 * removal before the commit. If the commit then fails, records the failure as a second event
 * @throws IdentityError PERMISSION_DENIED, or NOT_FOUND for an unknown user or a user without the factor (see zitadel
 * 6.3)
 */
export function removeOtpEmail(
  store: Store,
  caller: Caller,
  userId: string,
  now: Date,
  audited: AuditedCall,
): Promise<OperationDetails> {
  if (!userIdParameter.safeParse(userId).success) throw userIdLength({ message: 'RemoveOTPEmailRequest' });
  const key = userKey(userId);
  audited.describe({ target: userId });
  return store.transaction(async (transaction) => {
    const user = await readUserAs(transaction, caller, 'user.write', userId, userFields);
    if (user === undefined) throw userNotFound();
    if (user.otpEmail !== true) {
      // A concurrent call may have removed the factor in a commit that is not durable yet. Wait until that commit is
      // durable, because the error depends on it.
      await store.durable();
      throw otpEmailNotSet();
    }
    const name = textAt(parseObject(user.body), 'user.userName', '').slice(0, MAX_RECORDED_CHARACTERS);
    await audited.beginIn(transaction, { target: userId, name, ...organisationFacts([user.orgId ?? '']) });
    const sequence = (user.sequence ?? 0) + 1;
    const changeDate = now.toISOString();
    transaction.write([{ type: 'update', key, fields: { otpEmail: null, sequence, changedAt: changeDate } }]);
    return {
      sequence: String(sequence),
      changeDate,
      resourceOwner: user.orgId ?? '',
      creationDate: toNanoseconds(user.createdAt ?? changeDate),
    };
  });
}

/**
 * Shortens a date to nanoseconds, the precision of protobuf timestamps. Dates of imported records can have more digits.
 */
function toNanoseconds(date: string): string {
  return date.replace(/(\.\d{9})\d+/, '$1');
}

const methodFields: Record<z.output<typeof authenticationMethodType>, FieldName> = {
  AUTHENTICATION_METHOD_TYPE_TOTP: factorFields.totp,
  AUTHENTICATION_METHOD_TYPE_OTP_EMAIL: factorFields['otp-email'],
  AUTHENTICATION_METHOD_TYPE_PASSWORD: factorFields.password,
};
const methodUserFields: readonly FieldName[] = ['orgId', 'body', ...Object.values(methodFields)];

/**
 * Lists the types of a user's authentication methods (specification 4.5). Users can list their own methods. Other
 * callers need `user.read` on the user's organisation or on the instance. For a user who does not exist, the list is
 * empty, as in ZITADEL (see zitadel 6.7).
 * @throws IdentityError INVALID_ARGUMENT, PERMISSION_DENIED
 */
export async function listAuthenticationMethodTypes(
  store: Store,
  caller: Caller,
  { userId, domainQuery }: MethodsRequest,
  now: Date,
): Promise<MethodsResponse> {
  if (!userIdParameter.safeParse(userId).success)
    throw userIdLength({ message: 'ListAuthenticationMethodTypesRequest' });
  if (domainQuery !== undefined && !domainParameter.safeParse(domainQuery.domain).success) throw domainLength();
  const user = await readUserAs(store, caller, 'user.read', userId, methodUserFields);
  const types = authenticationMethodType.options.filter((type) => Boolean(user?.[methodFields[type]]));
  const timestamp = now.toISOString();
  if (types.length === 0) return { details: { timestamp } };
  return { details: { totalResult: String(types.length), timestamp }, authMethodTypes: types };
}
