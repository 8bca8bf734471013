import { describe, expect, it } from 'vitest';
import { createServiceUser } from '../../../cli/accounts/serviceUsers.ts';
import { changeRole } from '../../../shared/accounts/memberships.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import { expectClosed, expectClosedExport, expectOtherForms } from './closure/expectClosed.ts';

const LONG = 'x'.repeat(201);
const projects = [{ projectId: 'p', project: { name: 'project' } }];

describe('an export of imported records', () => {
  it('can be imported again with ids that are longer than a request of ZITADEL permits', async () => {
    const machineUsers = [{ userId: LONG, user: { userName: 'robot', name: 'Robot' } }];
    const projectGrants = [{ grantId: LONG, projectGrant: { projectId: 'p', grantedOrgId: 'granted' } }];
    const { report } = await expectClosed(sqlite, [
      organisation('o', { projects, projectGrants, machineUsers }),
      organisation('granted', { humanUsers: [person('u')], userGrants: [{ userId: 'u', projectId: 'p' }] }),
    ]);
    expect(report.errors).toBeUndefined();
  });

  it('can be imported again if user names are blank', async () => {
    const humanUsers = [person('u', { userName: '\u2003 ' })];
    const machineUsers = [{ userId: 'm', user: { userName: ' ', name: ' ' } }];
    const { report } = await expectClosed(sqlite, [organisation('o', { humanUsers, machineUsers })]);
    expect(report.errors).toEqual([
      { type: 'human_user', id: 'u', message: 'ID=COMMAND-00p2b Message=Errors.User.Username.Empty' },
    ]);
  });

  it('can be imported again in the form for a ZITADEL if it has none of a login policy’s identity providers', async () => {
    const idps = ['IDP_OWNER_TYPE_SYSTEM', 'IDP_OWNER_TYPE_ORG'].map((ownerType) => ({ idpId: ownerType, ownerType }));
    await expectOtherForms(sqlite, await expectClosed(sqlite, [organisation('o', { loginPolicy: { idps } })]));
  });

  it('can be imported again with the organisation and users that commands have created', async () => {
    const store = await openTestStore(sqlite);
    const instance = await testInstance(store, ' Nörd '.padEnd(193, 'x').concat(' '));
    await createServiceUser(store, ' robot ', undefined, new Date());
    await expectClosedExport(sqlite, instance, { excluded_org_ids: [] });
  });

  it('can be imported again with the memberships that commands have created', async () => {
    const store = await openTestStore(sqlite);
    const instance = await testInstance(store);
    const humanUsers = [person('u'), { ...person('v'), userId: LONG }];
    await instance.import({ data_orgs: { orgs: [organisation('o', { humanUsers })] } });
    const addOwner = (userId: string) => changeRole(store, { userId, orgId: 'o' }, 'ORG_OWNER', 'add', new Date());
    await addOwner('u');
    await addOwner(LONG);
    await expectClosedExport(sqlite, instance);
  });
});
