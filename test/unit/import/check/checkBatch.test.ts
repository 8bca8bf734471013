import { describe, expect, it } from 'vitest';
import { checkBatch } from '../../../../functions/import/check/checkBatch.ts';
import type { RecordPlan } from '../../../../shared/organisation/recordPlan.ts';
import { documentId } from '../../../../shared/store/store.ts';
import { contextOf, plan, project } from '../../../support/import/batches.ts';
import { MemoryStore } from '../../../support/stores/memoryStore.ts';

describe('the check of the references of a batch', () => {
  const check = async (plans: readonly RecordPlan[]) => {
    const store = new MemoryStore();
    const checked = checkBatch(contextOf(store, 'report'), plans);
    const atNextTurn = new Promise<number>((resolve) => setImmediate(() => resolve(store.reads.length)));
    await checked;
    return { reads: store.reads, atNextTurn: await atNextTurn };
  };
  const keyOf = (index: number) =>
    plan('appKeys', { id: `${index}`, appId: `A${index % 2}`, projectId: 'P', publicKey: 'eA==' });

  it('reads each document once, the organisation of a privilege too, and bodies only if the check of a reference needs them', async () => {
    const members = [0, 1, 2, 3].map((index) => plan('orgMembers', { userId: `U${index % 2}`, roles: ['ORG_OWNER'] }));
    const { reads } = await check([...members, keyOf(0), keyOf(1), keyOf(2)]);
    const ids = (...names: readonly string[]) => names.map((name) => documentId(name));
    expect(reads.map(({ keys, fields }) => [keys.map(({ id }) => id), fields?.includes('body')])).toEqual([
      [ids('U0', 'U1', 'O'), false],
      [ids('A0', 'A1'), true],
    ]);
  });

  it('reads some thousands of documents at a time, and other work runs in between', async () => {
    const triggers = ['a', 'b', 'c'].map((name, index) => {
      const actionIds = Array.from({ length: 1_500 }, (_, number) => `${name}${number}`);
      return plan('triggerActions', { flowType: '1', triggerType: `${index + 1}`, actionIds });
    });
    const { reads, atNextTurn } = await check(triggers);
    expect(reads.map(({ keys }) => keys.length)).toEqual([3_000, 1_500]);
    expect(atNextTurn).toBe(1);
  });

  it('reads nothing for records without references', async () => {
    expect((await check([project('1', 'one')])).reads).toEqual([]);
  });
});
