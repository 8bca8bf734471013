import { describe, expect, it } from 'vitest';
import { checkOrganisationMember, checkTriggerAction } from '../../../shared/contract/recordChecks.ts';

describe('a trigger action', () => {
  it.each([
    ['1', '3'],
    ['2', '4'],
    ['3', '1'],
    ['4', '6'],
  ])('may be of flow %s and trigger %s', (flowType, triggerType) => {
    expect(checkTriggerAction({ flowType, triggerType })).toBeUndefined();
  });

  it.each([
    [undefined, '1', 'COMMAND-Dfhj5'],
    ['1', undefined, 'COMMAND-Dfhj5'],
    ['9', '1', 'COMMAND-Dfhj5'],
    ['1', '4', 'COMMAND-Dfgh6'],
    ['2', '1', 'COMMAND-Dfgh6'],
  ])('of flow %s and trigger %s is refused', (flowType, triggerType, id) => {
    expect(checkTriggerAction({ flowType, triggerType })?.id).toBe(id);
  });
});

describe('a member of an organisation', () => {
  it('holds roles of organisations, or none', () => {
    expect(checkOrganisationMember({ roles: ['ORG_OWNER', 'ORG_OWNER_VIEWER'] })).toBeUndefined();
    expect(checkOrganisationMember({})).toBeUndefined();
  });

  it.each(['IAM_OWNER', 'PROJECT_OWNER', ''])('does not hold %j', (role) => {
    expect(checkOrganisationMember({ roles: ['ORG_OWNER', role] })?.id).toBe('Org-4N8es');
  });
});
