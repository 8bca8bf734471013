import { describe, expect, it } from 'vitest';
import { listActivations } from '../../../../cli/migrate/activations.ts';
import type { RecordContent } from '../../../../shared/exportFile/comparedRecord.ts';
import type { ComparedPair } from '../../../../shared/exportFile/runDatabase.ts';

const content = (state: string): RecordContent => ({
  body: '{}',
  state: { value: `USER_STATE_${state}`, source: 'given' },
  secrets: {},
});

/** Returns the messages about a person with different states in the source and the target. */
async function messages(source: string, target: string): Promise<string[]> {
  async function* pairs(): AsyncGenerator<ComparedPair> {
    const person = { section: 'humanUsers', orgId: 'acme', id: 'ada', outcome: 'different' } as const;
    yield { ...person, first: content(source), second: content(target) };
  }
  const { entries } = await listActivations({ pairs }, new AbortController().signal);
  return entries.map(({ message }) => message);
}

describe('the people to whom a migration gives access', () => {
  it('are listed with their states in the target and in the source', async () => {
    expect(await messages('LOCKED', 'ACTIVE')).toEqual(['active in the target, locked in the source: lock it there']);
    expect(await messages('LOCKED', 'INITIAL')).toEqual(['initial in the target, locked in the source: lock it there']);
  });

  it('are not those without access in the target, or with access in the source', async () => {
    expect([...(await messages('LOCKED', 'INACTIVE')), ...(await messages('ACTIVE', 'ACTIVE'))]).toEqual([]);
    expect(await messages('INITIAL', 'ACTIVE')).toEqual([]);
  });
});
