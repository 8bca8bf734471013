import { AdminService } from '@zitadel/proto/zitadel/admin_pb.js';
import { UserState } from '@zitadel/proto/zitadel/user/v2/user_pb.js';
import { UserService } from '@zitadel/proto/zitadel/user/v2/user_service_pb.js';
import { rpcClient, searchAll } from '../rpc.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';

export interface InstanceMember {
  readonly userId: string;
  readonly roles: readonly string[];
}

const OWNER = 'IAM_OWNER';

/**
 * Reads the users who have roles in the instance. If ZITADEL deletes such a user, it deletes the user's roles as well.
 */
export async function readInstanceMembers(connection: ZitadelConnection): Promise<readonly InstanceMember[]> {
  const admin = rpcClient(connection, AdminService);
  const members = await searchAll((query) => admin.listIAMMembers({ query }));
  return members.map(({ userId, roles }) => ({ userId, roles }));
}

/**
 * Returns the users whose deletion would leave the instance without an active owner. The token's user does not count as
 * a remaining owner, because administrators often delete this user after a migration.
 */
export async function findLastOwners(
  connection: ZitadelConnection,
  members: readonly InstanceMember[],
  { callerId, isDeleted }: { readonly callerId: string; readonly isDeleted: (userId: string) => boolean },
): Promise<readonly string[]> {
  const owners = members.filter(({ userId, roles }) => roles.includes(OWNER) && userId !== callerId);
  const lost = owners.map(({ userId }) => userId).filter(isDeleted);
  if (lost.length === 0) return [];
  const remaining = owners.map(({ userId }) => userId).filter((userId) => !isDeleted(userId));
  if (remaining.length === 0) return lost;
  const service = rpcClient(connection, UserService);
  const queries = [{ query: { case: 'inUserIdsQuery', value: { userIds: remaining } } } as const];
  const users = await searchAll((query) => service.listUsers({ query, queries }));
  return users.some(({ state }) => state === UserState.ACTIVE) ? [] : lost;
}
