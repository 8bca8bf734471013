import { changeRole } from '../../shared/accounts/members.ts';
import { issueToken, listTokens } from '../../shared/accounts/personalAccessTokens.ts';
import { createServiceUser, deleteServiceUser } from '../../shared/accounts/serviceUsers.ts';
import { enableOtpEmail, requireUser } from '../../shared/accounts/users.ts';
import { tokenKey } from '../../shared/auth/token.ts';
import { argument, type Invocation, lifetime, type Run, required, UsageError } from '../command.ts';

/** Runs `identity otp-email enable`. */
export const otpEmailEnable: Run = async (invocation) => {
  const userId = argument(invocation, 0);
  const sequence = await enableOtpEmail(invocation.store, userId, invocation.now);
  return { json: { userId, sequence: String(sequence) }, text: `${userId} now has the OTP e-mail factor` };
};

/** Runs `identity pat create`. */
export const patCreate: Run = async (invocation) => {
  const userId = required(invocation, 'user');
  const created = await issueToken(invocation.store, userId, invocation.now, lifetime(invocation.options.expires));
  return { json: created, text: `token ${created.token} (id ${created.tokenId}), valid until ${created.expiresAt}` };
};

/** Runs `identity pat list`. */
export const patList: Run = async (invocation) => {
  const userId = required(invocation, 'user');
  await requireUser(invocation.store, userId);
  const tokens = await listTokens(invocation.store, userId);
  const lines = tokens.map(({ tokenId, expiresAt }) => `${tokenId} valid until ${expiresAt}`);
  return { json: { tokens }, text: lines.join('\n') || 'no tokens' };
};

/** Runs `identity pat revoke`. */
export const patRevoke: Run = async (invocation) => {
  const tokenId = argument(invocation, 0);
  const key = tokenKey(tokenId);
  const [token] = await invocation.store.getMany([key], ['ownerId']);
  if (token === undefined) throw new UsageError(`token ${tokenId} not found`);
  await invocation.store.commit([{ type: 'delete', key }]);
  return { json: { tokenId }, text: `token ${tokenId} is revoked` };
};

async function changeMembership(invocation: Invocation, kind: 'add' | 'remove') {
  const { store, now } = invocation;
  const userId = required(invocation, 'user');
  const role = required(invocation, 'role');
  await changeRole(store, { userId, orgId: invocation.options.org }, role, kind, now);
  return { json: { userId, role }, text: `${userId} ${kind === 'add' ? 'now holds' : 'no longer holds'} ${role}` };
}

/** Runs `identity member add`. */
export const memberAdd: Run = (invocation) => changeMembership(invocation, 'add');

/** Runs `identity member remove`. */
export const memberRemove: Run = (invocation) => changeMembership(invocation, 'remove');

/** Runs `identity service-user create`. */
export const serviceUserCreate: Run = async (invocation) => {
  const { store, options, now } = invocation;
  const userId = await createServiceUser(store, argument(invocation, 0), options.org, now);
  return { json: { userId }, text: `service user ${userId}` };
};

/** Runs `identity service-user delete`. */
export const serviceUserDelete: Run = async (invocation) => {
  const userId = argument(invocation, 0);
  await deleteServiceUser(invocation.store, userId);
  return { json: { userId }, text: `service user ${userId} is deleted` };
};
