import { listMembers, listOrganisations, listUsers } from '../../shared/accounts/listing.ts';
import { changeRole } from '../../shared/accounts/members.ts';
import { issueToken, listTokens, revokeTokens } from '../../shared/accounts/personalAccessTokens.ts';
import { createServiceUser, deleteServiceUser } from '../../shared/accounts/serviceUsers.ts';
import { changeLock, type LockChange } from '../../shared/accounts/userLocks.ts';
import { enableOtpEmail, requireUser } from '../../shared/accounts/users.ts';
import { tokenKey } from '../../shared/auth/token.ts';
import { operations } from '../../shared/auth/tokenOperations.ts';
import type { TokenRestriction } from '../../shared/auth/tokenRestriction.ts';
import { tokenUnknown } from '../../shared/errors/accountErrors.ts';
import { argument, type Invocation, type Output, type Run, type RunList, required, UsageError } from '../command.ts';
import { lifetime } from '../configuration.ts';

/** Runs `identity otp-email enable`. */
export const otpEmailEnable: Run = async (invocation) => {
  const userId = argument(invocation, 0);
  const sequence = await enableOtpEmail(invocation.store, userId, invocation.now);
  return { json: { userId, sequence: String(sequence) }, text: `${userId} now has the OTP e-mail factor` };
};

/** Runs `identity pat create`. */
export const patCreate: Run = async (invocation) => {
  const userId = required(invocation, 'user');
  const { store, now } = invocation;
  const created = await issueToken(store, userId, now, lifetime(invocation), readRestriction(invocation));
  return { json: created, text: `token ${created.token} (id ${created.tokenId}), valid until ${created.expiresAt}` };
};

function readRestriction({ options: { only }, lists: { org } }: Invocation): TokenRestriction {
  const operation = operations.find((name) => name === only);
  return { ...(operation === undefined ? {} : { operation }), ...(org === undefined ? {} : { orgIds: org }) };
}

/** Runs `identity pat list`. */
export const patList: Run = async (invocation) => {
  const userId = required(invocation, 'user');
  await requireUser(invocation.store, userId);
  const tokens = await listTokens(invocation.store, userId);
  const lines = tokens.map(({ tokenId, expiresAt, operation, orgIds }) =>
    [`${tokenId} valid until ${expiresAt}`, operation, orgIds?.join(',')]
      .filter((part) => part !== undefined)
      .join('\t'),
  );
  return { json: { tokens }, text: lines.join('\n') || 'no tokens' };
};

/** Runs `identity pat revoke`. */
export const patRevoke: Run = async (invocation) => {
  const { flags, options, positionals } = invocation;
  const isOfUser = flags.has('all') && options.user !== undefined;
  if (isOfUser === positionals.length > 0 || flags.has('all') !== (options.user !== undefined))
    throw new UsageError('specify either TOKEN_ID or --all --user ID');
  return isOfUser ? revokeAll(invocation) : revokeOne(invocation);
};

async function revokeAll(invocation: Invocation): Promise<Output> {
  const userId = required(invocation, 'user');
  await requireUser(invocation.store, userId);
  const revoked = await revokeTokens(invocation.store, userId);
  return { json: { userId, revoked }, text: `${revoked} tokens of ${userId} are revoked` };
}

async function revokeOne(invocation: Invocation): Promise<Output> {
  const tokenId = argument(invocation, 0);
  const key = tokenKey(tokenId);
  const [token] = await invocation.store.getMany([key], ['ownerId']);
  if (token === undefined) throw tokenUnknown(tokenId);
  await invocation.store.commit([{ type: 'delete', key }]);
  return { json: { tokenId }, text: `token ${tokenId} is revoked` };
}

async function changeMembership(invocation: Invocation, kind: 'add' | 'remove') {
  const { store, now } = invocation;
  const userId = required(invocation, 'user');
  const role = required(invocation, 'role');
  const membership = { userId, orgId: invocation.options.org };
  await changeRole(store, membership, role, kind, now, invocation.flags.has('force'));
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
  await deleteServiceUser(invocation.store, userId, invocation.flags.has('force'));
  return { json: { userId }, text: `service user ${userId} is deleted` };
};

async function changeUserLock(invocation: Invocation, change: LockChange): Promise<Output> {
  const userId = argument(invocation, 0);
  await changeLock(invocation.store, userId, change, invocation.now, invocation.flags.has('force'));
  return { json: { userId }, text: `${userId} is ${change}ed` };
}

/** Runs `identity user lock`. */
export const userLock: Run = (invocation) => changeUserLock(invocation, 'lock');

/** Runs `identity user unlock`. */
export const userUnlock: Run = (invocation) => changeUserLock(invocation, 'unlock');

/** Runs `identity user list`. */
export const userList: RunList = ({ store, options }) => ({
  name: 'users',
  rows: toRows(listUsers(store, options.org), ({ userId, orgId, userName, kind, state }) =>
    [userId, orgId, kind, state, userName].join('\t'),
  ),
});

/** Runs `identity org list`. */
export const orgList: RunList = ({ store }) => ({
  name: 'organisations',
  rows: toRows(listOrganisations(store), ({ orgId, name, state }) => [orgId, state, name].join('\t')),
});

/** Runs `identity member list`. */
export const memberList: RunList = ({ store, options }) => ({
  name: 'members',
  rows: toRows(listMembers(store, options.org), ({ userId, orgId, roles }) =>
    [userId, orgId ?? 'instance', roles.join(',')].join('\t'),
  ),
});

/** Pairs each element of a list with its text. */
async function* toRows<Row>(rows: AsyncIterable<Row>, text: (row: Row) => string): AsyncGenerator<Output> {
  for await (const json of rows) yield { json, text: text(json) };
}
