import { describe, expect, it } from 'vitest';
import { Activations } from '../../../../cli/migrate/activations.ts';
import type { RecordContent } from '../../../../shared/exportFile/comparedRecord.ts';

const content = (state: string): RecordContent => ({
  body: '{}',
  state: { value: `USER_STATE_${state}`, source: 'given' },
  secrets: {},
});

/** Returns the messages about a person with different states in the source and the target. */
function messages(source: string, target: string): string[] {
  const activations = new Activations();
  activations.addPair({
    section: 'humanUsers',
    orgId: 'acme',
    id: 'ada',
    outcome: 'different',
    first: content(source),
    second: content(target),
  });
  return activations.entries.map(({ message }) => message);
}

describe('the people to whom a migration gives access', () => {
  it('are listed with their states in the target and in the source', () => {
    expect(messages('LOCKED', 'ACTIVE')).toEqual(['active in the target, locked in the source: lock it there']);
    expect(messages('LOCKED', 'INITIAL')).toEqual(['initial in the target, locked in the source: lock it there']);
  });

  it('are not those without access in the target, or with access in the source', () => {
    expect([...messages('LOCKED', 'INACTIVE'), ...messages('ACTIVE', 'ACTIVE')]).toEqual([]);
    expect(messages('INITIAL', 'ACTIVE')).toEqual([]);
  });
});
