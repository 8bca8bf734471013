import { requireUser } from '../../shared/accounts/userAccounts.ts';
import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import { userSection } from '../../shared/organisation/sections/users.ts';
import { userKey } from '../../shared/store/documentKeys.ts';
import type { Reader } from '../../shared/store/store.ts';
import { type ListedUser, userKind } from './listing.ts';

const MAX_KNOWN_NAMES = 10_000;

export class UserNames {
  private readonly store: Reader;
  private readonly names = new Map<string, string | undefined>();

  constructor(store: Reader) {
    this.store = store;
  }

  /** Returns the name of a user, or undefined if no user has the id. */
  async find(userId: string | undefined): Promise<string | undefined> {
    if (userId === undefined || this.names.has(userId)) return this.names.get(userId ?? '');
    const [document] = await this.store.getMany([userKey(userId)], ['body']);
    const name = document === undefined ? undefined : textAt(parseObject(document.body), 'user.userName', '');
    if (this.names.size >= MAX_KNOWN_NAMES) this.names.clear();
    this.names.set(userId, name);
    return name;
  }
}

/**
 * Describes a user by name, kind and organisation.
 * @throws IdentityError NOT_FOUND for an unknown user
 */
export async function describeUser(
  reader: Reader,
  userId: string,
): Promise<Pick<ListedUser, 'userId' | 'userName' | 'kind' | 'orgId'>> {
  const { orgId = '', body } = await requireUser(reader, userId, ['orgId', 'body']);
  const json = parseObject(body);
  return { userId, orgId, userName: textAt(json, 'user.userName', orgId), kind: userKind(userSection(json)) };
}
