/** The roles that the stand-in supports, by Google's names. */
type Role = 'objectCreator' | 'objectViewer' | 'objectAdmin';

/** The permissions that roles grant. */
export type Permission =
  | 'storage.objects.create'
  | 'storage.objects.delete'
  | 'storage.objects.get'
  | 'storage.objects.list';

/** A service account with its roles, which hold in its buckets. */
export interface Account {
  readonly clientEmail: string;
  /** SPKI in PEM. */
  readonly publicKeyPem: string;
  /** The id of the key, as its key file names it. */
  readonly keyId: string;
  readonly roles: readonly Role[];
  readonly buckets: readonly string[];
}

const permissions: Readonly<Record<Role, readonly Permission[]>> = {
  objectCreator: ['storage.objects.create'],
  objectViewer: ['storage.objects.get', 'storage.objects.list'],
  objectAdmin: ['storage.objects.create', 'storage.objects.delete', 'storage.objects.get', 'storage.objects.list'],
};

/** Whether an account has a permission in a bucket. */
export function may(account: Account, permission: Permission, bucket: string): boolean {
  return account.buckets.includes(bucket) && account.roles.some((role) => permissions[role].includes(permission));
}
