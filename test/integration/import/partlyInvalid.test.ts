import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { report } from '../../support/fixtures/reports.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';

const exportOf = z.object({ orgs: z.array(z.looseObject({})) });

/** Imports an organisation twice, and exports it. */
async function imported(org: object) {
  const { instance } = await countedInstance();
  const { errors, reasons, summary } = await instance.import({ data_orgs: { orgs: [org] } });
  const again = await instance.import({ data_orgs: { orgs: [org] } });
  const exported = await instance.attempt('export', { response_output: true });
  const { orgs } = exportOf.parse(JSON.parse(exported.text));
  return { errors, reasons, summary, again, org: orgs.find(({ orgId }) => orgId === Reflect.get(org, 'orgId')) };
}

const dropped = (type: string, text: string, field: string) =>
  expect.objectContaining({
    type,
    reason: 'value_dropped',
    message: `imported without "${text}" of ${field}, which is not valid there`,
  });

describe('a record with an invalid element', () => {
  it('is a membership that keeps its valid roles', async () => {
    const { orgs } = z
      .object({ orgs: z.array(z.looseObject({ orgId: z.string() })) })
      .parse(JSON.parse((await report('custom-manager-role.json')).toString()));
    const { errors, summary, again, org } = await imported(orgs[0] ?? {});
    expect(errors).toBeUndefined();
    expect(summary.warnings).toContainEqual(dropped('org_member', 'ORG_SUPPORT_DESK', 'roles'));
    expect(org?.orgMembers).toEqual([{ userId: 'x16a', roles: ['ORG_OWNER'] }]);
    expect(again.summary).toMatchObject({ created: {}, unchanged: { orgMembers: 1 }, failed: {} });
  });

  it('is a grant that keeps its existing roles', async () => {
    const { instance } = await countedInstance();
    const projectGrant = { projectId: 'P', grantedOrgId: 'granted', roleKeys: ['reader', 'gone', 'writer'] };
    const owner = organisation('O', {
      humanUsers: [person('A')],
      projects: [{ projectId: 'P', project: { name: 'P' } }],
      projectRoles: ['reader', 'writer', 'owner'].map((roleKey) => ({ projectId: 'P', roleKey, displayName: roleKey })),
      projectGrants: [{ grantId: 'G', projectGrant }],
      userGrants: [{ userId: 'A', projectId: 'P', roleKeys: ['gone', 'reader'] }],
    });
    const granted = organisation('granted', {
      humanUsers: [person('B')],
      userGrants: [{ userId: 'B', projectId: 'P', projectGrantId: 'G', roleKeys: ['owner', 'gone', 'writer'] }],
    });
    const body = { data_orgs: { orgs: [granted, owner] } };
    const first = await instance.import(body);
    expect(first.errors).toBeUndefined();
    expect(first.summary.created).toMatchObject({ projectGrants: 1, userGrants: 2 });
    const lacking = (type: string, role: string, field: string) =>
      expect.objectContaining({
        type,
        reason: 'role_dropped',
        message: `imported without "${role}" of ${field}: the project or the project grant lacks the role`,
      });
    expect(first.summary.warnings).toEqual(
      expect.arrayContaining([
        lacking('project_grant', 'gone', 'projectGrant.roleKeys'),
        lacking('user_grant', 'gone', 'roleKeys'),
        lacking('user_grant', 'owner', 'roleKeys'),
      ]),
    );
  });

  it('is a membership that fails if none of its roles is valid', async () => {
    const orgMembers = [{ userId: 'A', roles: ['ORG_SUPPORT_DESK', 'IAM_OWNER'] }];
    const { errors, reasons } = await imported(organisation('O', { humanUsers: [person('A')], orgMembers }));
    expect(errors).toMatchObject([{ type: 'org_member', message: expect.stringContaining('Org-4N8es') }]);
    const roles = '"ORG_SUPPORT_DESK", "IAM_OWNER"';
    expect(reasons).toEqual([{ type: 'org_member', id: 'O_A', reason: 'member_roles_invalid', params: { roles } }]);
  });

  it('is a policy that keeps its other fields', async () => {
    const { errors, summary, org } = await imported(
      organisation('O', {
        privacyPolicy: { tosLink: 'https://a.example', supportEmail: 'Support <help@a.example>' },
        labelPolicy: { primaryColor: '#fff', warnColorDark: 'red' },
        loginPolicy: {
          forceMfa: true,
          defaultRedirectUri: 'nowhere',
          secondFactors: ['SECOND_FACTOR_TYPE_UNSPECIFIED', 'SECOND_FACTOR_TYPE_OTP'],
          multiFactors: ['MULTI_FACTOR_TYPE_UNSPECIFIED'],
        },
      }),
    );
    expect(errors).toBeUndefined();
    expect(summary.warnings).toEqual(
      expect.arrayContaining([
        dropped('privacy_policy', 'Support <help@a.example>', 'supportEmail'),
        dropped('label_policy', 'red', 'warnColorDark'),
        dropped('login_policy', 'nowhere', 'defaultRedirectUri'),
        dropped('login_policy', 'SECOND_FACTOR_TYPE_UNSPECIFIED', 'secondFactors'),
        dropped('login_policy', 'MULTI_FACTOR_TYPE_UNSPECIFIED', 'multiFactors'),
      ]),
    );
    expect(org).toMatchObject({
      privacyPolicy: { tosLink: 'https://a.example' },
      labelPolicy: { primaryColor: '#fff' },
      loginPolicy: { forceMfa: true, secondFactors: ['SECOND_FACTOR_TYPE_OTP'] },
    });
  });

  it('is a trigger that keeps its existing actions, each once', async () => {
    const action = (actionId: string) => ({ actionId, action: { name: actionId, script: 's', timeout: '1s' } });
    const trigger = (flowType: string, ...actionIds: string[]) => ({ flowType, triggerType: '1', actionIds });
    const { errors, summary, again, org } = await imported(
      organisation('O', {
        actions: [action('a'), action('b')],
        triggerActions: [trigger('1', 'a', 'gone', 'a', 'b'), trigger('3', 'gone')],
      }),
    );
    expect(errors).toEqual([expect.objectContaining({ type: 'trigger_action', id: '3_1' })]);
    expect(summary.warnings).toContainEqual(
      expect.objectContaining({
        id: '1_1',
        reason: 'action_dropped',
        message: 'imported without "gone" of actionIds: the organisation lacks the action',
      }),
    );
    expect(org?.triggerActions).toEqual([trigger('1', 'a', 'b')]);
    expect(again.summary).toMatchObject({ created: {}, unchanged: { actions: 2, triggerActions: 1 } });
  });

  it('is a person or a login policy without the invalid links to identity providers', async () => {
    const link = (configId: string, externalUserId = 'x') => ({ configId, externalUserId, displayName: 'x' });
    const idp = (idpId: string) => ({ idpId, ownerType: 'IDP_OWNER_TYPE_ORG' });
    const oidc = { name: 'I', clientId: 'c', clientSecret: 's', issuer: 'https://i.example' };
    const { errors, summary, again, org } = await imported(
      organisation('O', {
        oidcIdps: [{ idpId: 'I', idp: oidc }],
        humanUsers: [person('A', { idps: [link(''), link('I'), link('I', ''), { configId: 7 }, { configId: 8 }] })],
        loginPolicy: { forceMfa: true, idps: [idp(''), idp('I')] },
      }),
    );
    expect(errors).toBeUndefined();
    const missing = 'missing or empty: expected 1 to 200 characters';
    const leftOut = (id: string, field: string, problem: string) =>
      expect.objectContaining({
        id,
        reason: 'element_invalid',
        message: `imported without ${field}, which is not valid: ${problem}`,
      });
    expect(summary.warnings).toEqual(
      expect.arrayContaining([
        leftOut('A', 'user.idps[0]', `configId: ${missing}`),
        leftOut('A', 'user.idps[4]', 'configId: expected text, such as "text"'),
        leftOut('O', 'idps[0]', `idpId: ${missing}`),
      ]),
    );
    expect(org).toMatchObject({ loginPolicy: { forceMfa: true, idps: [{ idpId: 'I' }] }, userLinks: [{ idpId: 'I' }] });
    expect(again.summary).toMatchObject({ created: {}, unchanged: { humanUsers: 1, userLinks: 1, loginPolicy: 1 } });
  });

  it('is a person who keeps an invalid field of their own as an error, even beside an invalid link', async () => {
    const { reasons } = await imported(
      organisation('O', { humanUsers: [person('A', { userName: '', idps: [{ configId: '' }] })] }),
    );
    expect(reasons).toMatchObject([{ type: 'human_user', reason: 'value_invalid' }]);
  });

  it('is a project that is granted to its own organisation: its user grants are grants of the project, without members', async () => {
    const { errors, summary, again, org } = await imported(
      organisation('O', {
        humanUsers: [person('A')],
        projects: [{ projectId: 'P', project: { name: 'P' } }],
        projectRoles: [{ projectId: 'P', roleKey: 'reader', displayName: 'Reader' }],
        projectGrants: [{ grantId: 'G', projectGrant: { projectId: 'P', grantedOrgId: 'O', roleKeys: ['reader'] } }],
        userGrants: [{ userId: 'A', projectId: 'P', projectGrantId: 'G', roleKeys: ['reader'] }],
        projectGrantMembers: [{ userId: 'A', projectId: 'P', grantId: 'G', roles: ['PROJECT_GRANT_OWNER'] }],
      }),
    );
    expect(errors).toBeUndefined();
    expect(summary.notCarried).toEqual({ projectGrants: 1, projectGrantMembers: 1 });
    expect(summary.warnings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'project_grant', id: 'O_P_O', reason: 'grant_to_itself' }),
        expect.objectContaining({ type: 'user_grant', id: 'O_P_A', reason: 'field_unset' }),
      ]),
    );
    expect(org?.userGrants).toEqual([{ userId: 'A', projectId: 'P', roleKeys: ['reader'] }]);
    expect(again.summary).toMatchObject({ created: {}, unchanged: { userGrants: 1 }, failed: {} });
  });
});
