import type { Audit } from '../shared/audit/audit.ts';
import type { Authenticate } from '../shared/auth/authorise.ts';
import type { Limits } from '../shared/limits.ts';
import type { ObjectStorage } from '../shared/objectStorage/objectStorage.ts';
import type { Transfers } from '../shared/objectStorage/transfers.ts';
import type { Store } from '../shared/store/store.ts';

export interface Ports {
  readonly store: Store;
  readonly objectStorage: ObjectStorage;
  /** The instance's bucket for transfers. Undefined if the instance has none; self-hosted instances never have one. */
  readonly transfers?: Transfers | undefined;
  readonly audit: Audit;
  readonly now: () => Date;
  /** Authenticates a caller. If absent, callers authenticate by the token in the Authorization header. */
  readonly authenticate?: Authenticate | undefined;
  readonly limits: Limits;
  /** The cost of bcrypt for clear passwords. With the default cost, every ZITADEL release can verify the hashes. */
  readonly bcryptCost?: number | undefined;
}
