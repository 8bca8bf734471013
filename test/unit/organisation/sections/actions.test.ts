import { describe, expect, it } from 'vitest';
import { checkTriggerAction } from '../../../../shared/organisation/sections/actions.ts';

describe('a trigger action', () => {
  it.each([
    ['1', '3'],
    ['2', '4'],
    ['3', '1'],
    ['4', '6'],
  ])('may be of flow %s and trigger %s', (flowType, triggerType) => {
    expect(checkTriggerAction({ flowType, triggerType, actionIds: ['a'] })).toBeUndefined();
  });

  it.each([
    [undefined, '1', 'COMMAND-Dfhj5'],
    ['9', '1', 'COMMAND-Dfhj5'],
    ['1', undefined, 'COMMAND-Dfgh6'],
    ['1', '01', 'COMMAND-Dfgh6'],
    ['1', '4', 'COMMAND-Dfgh6'],
    ['2', '1', 'COMMAND-Dfgh6'],
  ])('of flow %s and trigger %s is refused', (flowType, triggerType, id) => {
    expect(checkTriggerAction({ flowType, triggerType, actionIds: ['a'] })?.id).toBe(id);
  });

  it('that names an action twice is refused, as one that names an action that is missing', () => {
    expect(checkTriggerAction({ flowType: '1', triggerType: '1', actionIds: ['a', 'b', 'a'] })?.id).toBe(
      'COMMAND-dg422',
    );
  });

  it('without actions changes nothing, and is refused', () => {
    expect(checkTriggerAction({ flowType: '1', triggerType: '1' })?.id).toBe('COMMAND-Nfh52');
  });
});
