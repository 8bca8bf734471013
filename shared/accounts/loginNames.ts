import { isRecord } from '../contract/jsonRecord.ts';
import { documentId } from '../store/documentId.ts';
import type { DocumentKey, Store } from '../store/store.ts';

/** Whether login names of an organisation's users carry its domain, as its domain policy says (contract 3.4). */
export async function loginNamesByDomain(store: Store, orgId: string): Promise<boolean> {
  const key: DocumentKey = { collection: 'settings', id: documentId(orgId, 'domainPolicy') };
  const [stored] = await store.getMany([key], ['body']);
  const policy: unknown = JSON.parse(stored?.body ?? 'null');
  return isRecord(policy) && policy.userLoginMustBeDomain === true;
}
