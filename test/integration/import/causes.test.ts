import { describe, expect, it } from 'vitest';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const jwtIdps = [{ idpId: 'I', idp: { name: 'I', issuer: 'i', jwtEndpoint: 'j', keysEndpoint: 'k', headerName: 'h' } }];
const link = (userId: string) => ({ userId, idpId: 'I', providedUserId: 'x' });
const robot = (userId: string) => ({ userId, user: { userName: 'robot', name: 'Robot' } });
const project = {
  projects: [{ projectId: 'P', project: { name: 'P' } }],
  projectRoles: [{ projectId: 'P', roleKey: 'r', displayName: 'r' }],
};
const linked = (...users: readonly string[]) =>
  organisation('a', { jwtIdps, humanUsers: [person('U'), person('V')], userLinks: users.map(link) });

const linkedInside = (userId: string) => {
  const { user, ...rest } = person(userId);
  return { ...rest, user: { ...user, idps: [{ configId: 'I', externalUserId: 'x' }] } };
};

const ofU = { reason: 'identity_taken', params: { holder: 'U' } };
const rows: Readonly<Record<string, { stored?: object; file: object[]; id: string; cause: object }>> = {
  'two people of a file have one external identity': { file: [linked('U', 'V')], id: 'V_I', cause: ofU },
  'a stored person has the external identity': { stored: linked('U'), file: [linked('V')], id: 'V_I', cause: ofU },
  'a person has the external identity inside, another in a link of the organisation': {
    file: [organisation('a', { jwtIdps, humanUsers: [linkedInside('U'), person('V')], userLinks: [link('V')] })],
    id: 'V_I',
    cause: ofU,
  },
  'two people have one external identity inside': {
    file: [organisation('a', { jwtIdps, humanUsers: [linkedInside('U'), linkedInside('V')] })],
    id: 'V_I',
    cause: ofU,
  },
  'a person and a service user of a file have one id': {
    file: [organisation('a', { humanUsers: [person('U')], machineUsers: [robot('U')] })],
    id: 'U',
    cause: {
      reason: 'id_repeated',
      params: {
        holder: 'the person name of U',
        owner: 'organisation a',
        record: 'service user robot',
        organisation: 'a',
      },
    },
  },
  "a user grant refers to another organisation's project, which is not granted, with an unknown role": {
    file: [
      organisation('a', project),
      organisation('b', {
        humanUsers: [person('U')],
        userGrants: [{ userId: 'U', projectId: 'P', roleKeys: ['none'] }],
      }),
    ],
    id: 'b_P_U',
    cause: { reason: 'reference_foreign', params: { field: 'projectId', id: 'P', organisation: 'a' } },
  },
};

describe('the error of a record names its cause', () => {
  it.each(Object.entries(rows))('%s', async (_name, { stored, file, id, cause }) => {
    const instance = await testInstance(await openTestStore(sqlite));
    if (stored !== undefined) await instance.import({ data_orgs: { orgs: [stored] } });
    const { reasons } = await instance.import({ data_orgs: { orgs: file } });
    expect(reasons).toMatchObject([{ id, ...cause }]);
  });
});
