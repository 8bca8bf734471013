import { describe, expect, it } from 'vitest';
import { checkOrganisationMember } from '../../../../shared/organisation/sections/members.ts';

describe('a member of an organisation', () => {
  it('holds roles of organisations, or none', () => {
    expect(checkOrganisationMember({ roles: ['ORG_OWNER', 'ORG_OWNER_VIEWER'] })).toBeUndefined();
    expect(checkOrganisationMember({})).toBeUndefined();
  });

  it.each(['IAM_OWNER', 'PROJECT_OWNER', ''])('does not hold %j', (role) => {
    expect(checkOrganisationMember({ roles: ['ORG_OWNER', role] })?.id).toBe('Org-4N8es');
  });
});
