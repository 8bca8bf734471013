import { describe, expect, it } from 'vitest';
import { readRecord } from '../../../shared/organisation/record.ts';
import { createWrites, planRecord } from '../../../shared/organisation/recordPlan.ts';
import { documentPath } from '../../../shared/store/store.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';

const alice = planRecord(
  readRecord(sectionNamed('humanUsers'), { userId: 'u', user: { userName: 'alice' } }, 'org-1'),
  false,
);

describe('the writes of a record', () => {
  it('create it with its claims, so that all or none of them exist', () => {
    const writes = createWrites(alice, '2026-01-01T00:00:00.000Z');
    expect(writes.map(({ type, key }) => [type, key])).toEqual([
      ['create', alice.key],
      ...alice.claims.map(({ key }) => ['create', key]),
    ]);
    expect(writes[1]).toMatchObject({ fields: { ownerId: documentPath(alice.key), orgId: 'org-1' } });
  });

  it('begin its sequence at 1 and set its creation date', () => {
    const at = '2026-01-01T00:00:00.000Z';
    const [write] = createWrites(alice, at);
    expect(write).toMatchObject({
      fields: { sequence: 1, createdAt: at, changedAt: at, partition: 'humanUsers/org-1' },
    });
  });
});
