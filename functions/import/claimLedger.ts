import { ownerOf } from '../../shared/contract/recordPlan.ts';
import type { DocumentKey, StoredDocument, Write } from '../../shared/store/store.ts';

interface Holder {
  readonly orgId: string;
  readonly ownerId: string;
}

/** Who holds which unique name while a transaction decides, and the writes that make it so. */
export class ClaimLedger {
  private readonly before: ReadonlyMap<string, StoredDocument>;
  private readonly after = new Map<string, { key: DocumentKey; holder: Holder | undefined }>();

  /** @param before the claims that are stored, by `ownerOf` their keys */
  constructor(before: ReadonlyMap<string, StoredDocument>) {
    this.before = before;
  }

  /** Whether anyone but `ownerId` holds the name. */
  isHeldByAnother(key: DocumentKey, ownerId: string): boolean {
    const holder = this.holderOf(key);
    return holder !== undefined && holder !== ownerId;
  }

  take(key: DocumentKey, holder: Holder): void {
    this.after.set(ownerOf(key), { key, holder });
  }

  /** Frees a name, if `ownerId` holds it. */
  release(key: DocumentKey, ownerId: string): void {
    if (this.holderOf(key) === ownerId) this.after.set(ownerOf(key), { key, holder: undefined });
  }

  /** One write at most for each name. */
  writes(): Write[] {
    return [...this.after].flatMap(([name, { key, holder }]): Write[] => {
      const stored = this.before.get(name);
      if (holder === undefined) return stored === undefined ? [] : [{ type: 'delete', key }];
      if (stored === undefined) return [{ type: 'create', key, fields: { ...holder } }];
      return stored.ownerId === holder.ownerId ? [] : [{ type: 'update', key, fields: { ...holder } }];
    });
  }

  private holderOf(key: DocumentKey): string | undefined {
    const name = ownerOf(key);
    const changed = this.after.get(name);
    return changed === undefined ? this.before.get(name)?.ownerId : changed.holder?.ownerId;
  }
}
