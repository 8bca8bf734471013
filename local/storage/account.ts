/** Google's roles, of those that this stand-in knows. */
type Role = 'objectCreator' | 'objectViewer' | 'objectAdmin';

/** What a role can allow. */
export type Permission =
  | 'storage.objects.create'
  | 'storage.objects.delete'
  | 'storage.objects.get'
  | 'storage.objects.list';

/** A service account, and what it may do in which buckets. */
export interface Account {
  readonly clientEmail: string;
  /** SPKI in PEM. */
  readonly publicKeyPem: string;
  readonly roles: readonly Role[];
  readonly buckets: readonly string[];
}

const permissions: Readonly<Record<Role, readonly Permission[]>> = {
  objectCreator: ['storage.objects.create'],
  objectViewer: ['storage.objects.get', 'storage.objects.list'],
  objectAdmin: ['storage.objects.create', 'storage.objects.delete', 'storage.objects.get', 'storage.objects.list'],
};

/** Whether an account may do something in a bucket. */
export function may(account: Account, permission: Permission, bucket: string): boolean {
  return account.buckets.includes(bucket) && account.roles.some((role) => permissions[role].includes(permission));
}
