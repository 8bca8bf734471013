import { describe, expect, it } from 'vitest';
import { checkTriggerAction } from '../../../shared/organisation/sections/actions.ts';
import { checkUsedProjectGrant } from '../../../shared/organisation/sections/grants.ts';
import { checkApplicationOfKey } from '../../../shared/organisation/sections/keys.ts';
import { checkOrganisationMember } from '../../../shared/organisation/sections/members.ts';
import { checkPerson } from '../../../shared/organisation/sections/users.ts';

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
    ['1', undefined, 'COMMAND-Dfhj5'],
    ['9', '1', 'COMMAND-Dfhj5'],
    ['1', '4', 'COMMAND-Dfgh6'],
    ['2', '1', 'COMMAND-Dfgh6'],
  ])('of flow %s and trigger %s is refused', (flowType, triggerType, id) => {
    expect(checkTriggerAction({ flowType, triggerType, actionIds: ['a'] })?.id).toBe(id);
  });

  it('without actions changes nothing, and is refused', () => {
    expect(checkTriggerAction({ flowType: '1', triggerType: '1' })?.id).toBe('COMMAND-Nfh52');
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

describe('a person', () => {
  const withEmail = (email: string) => checkPerson({ user: { email: { email } } });

  it.each(['a@b', 'first.last+tag@sub.example.com', "o'brien_1@xn--bcher-kva.example"])(
    'may have the address %s',
    (email) => {
      expect(withEmail(email)).toBeUndefined();
    },
  );

  it.each(['ä@example.com', 'a@bücher.example', 'a@-example.com', 'a@exa_mple.com', 'a b@example.com', 'a@b@c', ''])(
    'may not have the address %j',
    (email) => {
      expect(withEmail(email)).toEqual({ id: 'EMAIL-599BI', key: 'Errors.User.Email.Invalid' });
    },
  );
});

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

describe('the application of a key', () => {
  it.each(['API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT', 'OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT'])('is one of %s', (type) => {
    expect(checkApplicationOfKey({ app: { authMethodType: type } })).toBeUndefined();
  });

  it.each([undefined, 'OIDC_AUTH_METHOD_TYPE_POST'])('is none of %s', (authMethodType) => {
    expect(checkApplicationOfKey({ app: { authMethodType } })?.id).toBe('COMMAND-Dff54');
  });
});
