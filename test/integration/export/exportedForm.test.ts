import { describe, expect, it } from 'vitest';
import { comparable } from '../../support/fixtures/comparable.ts';
import { filled } from '../../support/fixtures/filledOrganisation.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import { exportForZitadel } from '../../support/zitadel/forZitadel.ts';

const idp = { clientId: 'c', clientSecret: 's', issuer: 'https://i.example' };
const jwt = { jwtEndpoint: 'https://j', issuer: 'https://j', keysEndpoint: 'https://j', headerName: 'j' };
const link = (idpId: string, more: object = {}) => ({ userId: 'U', idpId, providedUserId: `at ${idpId}`, ...more });
const machine = (userId: string, user: object = {}) => ({
  userId,
  user: { userName: `robot ${userId}`, name: 'Robot', ...user },
  state: 'USER_STATE_ACTIVE',
});

/** An organisation without the values that an export fills in, as only ZITADEL would write it. */
const sparse = organisation('O', {
  loginPolicy: { forceMfa: true, mfaInitSkipLifetime: '5s' },
  projects: [{ projectId: 'P', project: { name: 'P' } }],
  oidcApps: [
    { appId: 'A', app: { projectId: 'P', name: 'A' } },
    { appId: 'B', app: { projectId: 'P', name: 'B', responseTypes: ['OIDC_RESPONSE_TYPE_ID_TOKEN'], clockSkew: '1s' } },
  ],
  humanUsers: [{ ...person('U'), state: 'USER_STATE_ACTIVE' }],
  machineUsers: [machine('auth0|"user":{'), machine('ü', { description: '"user":{' })],
  oidcIdps: [{ idpId: 'oidc', idp: { ...idp, name: 'Our OIDC' } }],
  jwtIdps: [{ idpId: 'jwt', idp: { ...jwt, name: 'Our JWT' } }],
  userLinks: [link('oidc'), link('jwt', { idpName: 'wrong', idpType: 'IDP_TYPE_OIDC' }), link('none', { idpType: 7 })],
  orgState: 'ORG_STATE_ACTIVE',
});

describe('an export', () => {
  it("has the additional values of ZITADEL's exports beside the imported ones", async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    expect((await instance.import({ data_orgs: { orgs: [sparse] } })).errors).toBeUndefined();
    const { orgs } = await instance.export();
    expect(comparable(orgs)).toEqual(comparable([filled(sparse)]));
    expect(orgs[0]).toMatchObject({
      loginPolicy: { passwordCheckLifetime: '0s', mfaInitSkipLifetime: '5s' },
      oidcApps: [
        {
          app: {
            responseTypes: ['OIDC_RESPONSE_TYPE_CODE'],
            grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'],
            clockSkew: '0s',
          },
        },
        { app: { responseTypes: ['OIDC_RESPONSE_TYPE_ID_TOKEN'], clockSkew: '1s' } },
      ],
    });
    expect(Object.keys(orgs[0]?.loginPolicy ?? {})).toEqual([
      'forceMfa',
      'passwordCheckLifetime',
      'externalLoginCheckLifetime',
      'mfaInitSkipLifetime',
      'secondFactorCheckLifetime',
      'multiFactorCheckLifetime',
    ]);
  });

  it('describes links by the current provider', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    await instance.import({ data_orgs: { orgs: [sparse] } });
    const renamed = { orgId: 'O', oidcIdps: [{ idpId: 'oidc', idp: { ...idp, name: 'Renamed' } }] };
    await instance.import({ data_orgs: { orgs: [renamed] }, on_conflict: 'overwrite' });
    const { orgs } = await instance.export();
    expect(orgs[0]?.userLinks).toContainEqual({ ...link('oidc'), idpName: 'Renamed', idpType: 'IDP_TYPE_OIDC' });
  });

  it("contains nothing of another organisation's provider whose id a link has", async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const linked = organisation('A', { humanUsers: [person('U')], userLinks: [link('later', { idpName: 'mine' })] });
    await instance.import({ data_orgs: { orgs: [linked] } });
    const theirs = organisation('B', { oidcIdps: [{ idpId: 'later', idp: { ...idp, name: 'Theirs' } }] });
    await instance.import({ data_orgs: { orgs: [theirs] } });
    const { orgs } = await instance.export({ org_ids: ['A'] });
    expect(orgs[0]?.userLinks).toEqual([link('later', { idpName: 'mine' })]);
  });

  it("marks the organisation's own providers as its own in a login policy, whatever the file states", async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const named = (ownerType: string) => ['oidc', 'none'].map((idpId) => ({ idpId, ownerType }));
    const org = { ...sparse, loginPolicy: { idps: named('IDP_OWNER_TYPE_SYSTEM') } };
    await instance.import({ data_orgs: { orgs: [org] } });
    const { orgs, bytes } = await instance.export();
    const [own] = named('IDP_OWNER_TYPE_ORG');
    const [, missing] = named('IDP_OWNER_TYPE_SYSTEM');
    expect(orgs).toMatchObject([{ loginPolicy: { idps: [own, missing] } }]);
    expect((await exportForZitadel(instance)).orgs).toMatchObject([{ loginPolicy: { idps: [own] } }]);
    for (const data_orgs of [{ orgs: [org] }, JSON.parse(bytes)])
      expect((await instance.import({ data_orgs })).summary).toMatchObject({ created: {}, failed: {} });
  });
});
