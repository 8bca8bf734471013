import type { z } from 'zod';
import { authorise, type Caller, isValidFor, userKey } from '../../../shared/auth/authorise.ts';
import { domainLength, userDenied, userIdLength } from '../../../shared/errors/errors.ts';
import type { FieldName } from '../../../shared/store/documentFields.ts';
import type { Store } from '../../../shared/store/store.ts';
import { userIdParameter } from '../../../shared/wire/userId.ts';
import { authenticationMethodType, domainParameter, type MethodsRequest, type MethodsResponse } from './contract.ts';

/**
 * The stored field that a user with the method has. A seed is read as it is stored, so that this function needs no master
 * key.
 */
const fields: Record<z.output<typeof authenticationMethodType>, FieldName> = {
  AUTHENTICATION_METHOD_TYPE_TOTP: 'sealedTotpSeed',
  AUTHENTICATION_METHOD_TYPE_OTP_EMAIL: 'otpEmail',
  AUTHENTICATION_METHOD_TYPE_PASSWORD: 'passwordHash',
};

/**
 * Lists which authentication methods a user has (specification 4.5). Callers other than the user need `user.read` on the
 * user's organisation or the instance. A user that does not exist has no methods, as in ZITADEL (zitadel 6.7).
 * @throws IdentityError INVALID_ARGUMENT, PERMISSION_DENIED
 */
export async function listAuthenticationMethodTypes(
  store: Store,
  caller: Caller,
  { userId, domainQuery }: MethodsRequest,
  now: Date,
): Promise<MethodsResponse> {
  if (!userIdParameter.safeParse(userId).success) throw userIdLength('ListAuthenticationMethodTypesRequest');
  if (domainQuery !== undefined && !domainParameter.safeParse(domainQuery.domain).success) throw domainLength();
  const [user] = await store.getMany([userKey(userId)], ['orgId', ...Object.values(fields)]);
  if (!isValidFor(caller.restriction, user?.orgId)) throw userDenied();
  if (caller.userId !== userId) await authorise(store, caller, 'user.read', user?.orgId);
  const types = authenticationMethodType.options.filter((type) => Boolean(user?.[fields[type]]));
  const timestamp = now.toISOString();
  if (types.length === 0) return { details: { timestamp } };
  return { details: { totalResult: String(types.length), timestamp }, authMethodTypes: types };
}
