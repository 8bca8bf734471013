import { describe, expect, it } from 'vitest';
import { checkUsedProjectGrant } from '../../../../shared/organisation/sections/grants.ts';

describe("a user's grant that hangs on a project grant", () => {
  const grant = { projectGrant: { projectId: 'P', grantedOrgId: 'O', roleKeys: ['reader', 'writer'] } };

  it('may have the roles that were granted, or none', () => {
    expect(checkUsedProjectGrant(grant, { projectId: 'P', roleKeys: ['writer'] }, 'O')).toBeUndefined();
    expect(checkUsedProjectGrant(grant, { projectId: 'P' }, 'O')).toBeUndefined();
  });

  it('has no role beside them', () => {
    const fault = checkUsedProjectGrant(grant, { projectId: 'P', roleKeys: ['reader', 'owner'] }, 'O');
    expect(fault).toEqual({ id: 'COMMAND-mm9F4', key: 'Errors.Project.Role.NotFound' });
  });

  it.each([
    ['another project', { projectId: 'Q' }, 'O'],
    ['another organisation', { projectId: 'P' }, 'X'],
  ])('is none where that is for %s', (_what, record, orgId) => {
    expect(checkUsedProjectGrant(grant, record, orgId)?.id).toBe('COMMAND-4m9ff');
  });
});
