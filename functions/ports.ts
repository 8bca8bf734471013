import type { Audit } from '../shared/audit/audit.ts';
import type { Authenticate } from '../shared/auth/authorise.ts';
import type { Limits } from '../shared/limits.ts';
import type { ObjectStorage } from '../shared/objectStorage/objectStorage.ts';
import type { Transfers } from '../shared/objectStorage/transfers.ts';
import type { Store } from '../shared/store/store.ts';

/** The dependencies of all functions. Each function uses those it needs; the serving process provides them. */
export interface Ports {
  readonly store: Store;
  readonly objectStorage: ObjectStorage;
  /** The instance's bucket for transfers; undefined if it has none, like a self-hosted instance. */
  readonly transfers?: Transfers | undefined;
  /** Records calls in the audit trail. */
  readonly audit: Audit;
  readonly now: () => Date;
  /** Authenticates the callers; by default by their tokens. */
  readonly authenticate?: Authenticate | undefined;
  readonly limits: Limits;
  /** How imports hash clear passwords; by default so that every ZITADEL release can verify the hashes. */
  readonly bcryptCost?: number | undefined;
}
