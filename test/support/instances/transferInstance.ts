import { createServiceUser } from '../../../cli/accounts/serviceUsers.ts';
import { changeRole } from '../../../shared/accounts/memberships.ts';
import { issueToken } from '../../../shared/accounts/personalAccessTokens.ts';
import type { AuditEvent } from '../../../shared/audit/auditEvent.ts';
import type { TokenRestriction } from '../../../shared/auth/authorise.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { memoryTrail } from '../audit/memoryTrail.ts';
import { type MemoryTransfers, memoryTransfers } from '../memoryTransfers.ts';
import { openTestStore, type StoreKind } from '../stores/stores.ts';
import { type ReplacedPorts, type TestInstance, testInstance } from './testInstance.ts';

/** An instance with a bucket for transfers. */
export interface TransferInstance extends TestInstance {
  readonly transfers: MemoryTransfers;
  readonly events: readonly AuditEvent[];
  /** Sends a request with a token; by default with the owner's token. */
  request(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Response>;
  /** Returns the token of another service user with the role IAM_OWNER. */
  createOwner(restriction?: TokenRestriction): Promise<string>;
}

/** Opens an instance with a bucket for transfers in memory. */
export async function transferInstance(kind?: StoreKind, replaced: ReplacedPorts = {}): Promise<TransferInstance> {
  const transfers = memoryTransfers();
  const { audit, events } = memoryTrail();
  const store = await openTestStore(kind);
  const instance = await testInstance(store, 'test', { transfers, audit, ...replaced });
  return {
    ...instance,
    transfers,
    events,
    async request(method, path, body, headers = {}) {
      const init = body === undefined ? {} : { body: JSON.stringify(body) };
      const authorised = { authorization: `Bearer ${instance.token}`, ...headers };
      return await instance.app.request(path, { method, headers: authorised, ...init });
    },
    async createOwner(restriction) {
      const userId = await createServiceUser(store, 'second', instance.orgId, new Date());
      await changeRole(store, { userId, orgId: undefined }, 'IAM_OWNER', 'add', new Date());
      return (await issueToken(store, userId, new Date(), DAY_MS, restriction)).token;
    },
  };
}
