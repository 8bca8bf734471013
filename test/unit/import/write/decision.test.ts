import { describe, expect, it } from 'vitest';
import { ClaimLedger } from '../../../../functions/import/write/decision.ts';
import type { DocumentKey, StoredDocument } from '../../../../shared/store/store.ts';

const key = (id: string): DocumentKey => ({ collection: 'claims', id });
const stored = new Map<string, StoredDocument>([['claims/anna', { id: 'anna', orgId: 'O', ownerId: 'users/A' }]]);

describe('the claims of a transaction', () => {
  it('belong to who is stored as their owner', () => {
    const ledger = new ClaimLedger(stored);
    expect(ledger.isHeldByAnother(key('anna'), 'users/A')).toBe(false);
    expect(ledger.isHeldByAnother(key('anna'), 'users/B')).toBe(true);
    expect(ledger.isHeldByAnother(key('free'), 'users/B')).toBe(false);
  });

  it('are created, changed and deleted by one write each', () => {
    const ledger = new ClaimLedger(new Map(stored).set('claims/bert', { id: 'bert', ownerId: 'users/B' }));
    ledger.release(key('anna'), 'users/A');
    ledger.take(key('anna'), { orgId: 'O', ownerId: 'users/B' });
    ledger.release(key('bert'), 'users/B');
    ledger.take(key('carl'), { orgId: 'O', ownerId: 'users/A' });
    expect(ledger.writes()).toEqual([
      { type: 'update', key: key('anna'), fields: { orgId: 'O', ownerId: 'users/B' } },
      { type: 'delete', key: key('bert') },
      { type: 'create', key: key('carl'), fields: { orgId: 'O', ownerId: 'users/A' } },
    ]);
  });

  it('are not written when they end as they were', () => {
    const ledger = new ClaimLedger(stored);
    ledger.release(key('anna'), 'users/A');
    ledger.take(key('anna'), { orgId: 'O', ownerId: 'users/A' });
    ledger.take(key('new'), { orgId: 'O', ownerId: 'users/A' });
    ledger.release(key('new'), 'users/A');
    expect(ledger.writes()).toEqual([]);
  });

  it('are not freed by who does not hold them', () => {
    const ledger = new ClaimLedger(stored);
    ledger.release(key('anna'), 'users/B');
    expect(ledger.isHeldByAnother(key('anna'), 'users/B')).toBe(true);
    expect(ledger.writes()).toEqual([]);
  });
});
