import { userKey } from '../auth/memberKeys.ts';
import { userUnknown } from '../errors/accountErrors.ts';
import type { FieldName } from '../store/documentFields.ts';
import type { Store, StoredDocument } from '../store/store.ts';

/**
 * The stored user, person or service user.
 * @throws IdentityError NOT_FOUND naming the id
 */
export async function existingUser(
  store: Store,
  userId: string,
  fields: readonly FieldName[],
): Promise<StoredDocument> {
  const [user] = await store.getMany([userKey(userId)], fields);
  if (user === undefined) throw userUnknown(userId);
  return user;
}
