import { expect, it } from 'vitest';
import { z } from 'zod';
import { warnings } from '../../../shared/errors/warnings.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const reported = z.array(z.looseObject({ reason: z.enum(Object.keys(warnings)) }));

it('every warning of an import has a reason of the list', async () => {
  const instance = await testInstance(await openTestStore(sqlite));
  const domain = { isVerified: true, isPrimary: true };
  const bot = { userId: 'bot', user: { userName: 'bot', name: 'Bot' } };
  const withHash = (value: string) => ({ hashedPassword: { value } });
  const first = organisation('a', { machineUsers: [bot] });
  await instance.import({ data_orgs: { orgs: [first] } });
  const file = organisation('a', {
    domains: [
      { ...domain, domainName: 'a.example' },
      { ...domain, domainName: 'b.example' },
    ],
    machineUsers: [{ ...bot, state: 'USER_STATE_LOCKED' }],
    orgMembers: [{ userId: 'bot', roles: ['ORG_OWNER'] }],
    humanUsers: [
      person('md5', withHash('5f4dcc3b5aa765d61d8327deb882cf99')),
      person('text', withHash('not a hash')),
      person('seed', { otpCode: 'not base32' }),
      person('corrected', { phone: { phone: '++41791234568' } }),
      person('label', { phone: { phone: '+41 79 123 45 67 (Axel)' } }),
      person('gender', { profile: { firstName: 'A', lastName: 'B', gender: 'GENDER_ANOTHER' } }),
      person('x'.repeat(201), { userName: 'long' }),
    ],
    loginPolicy: {
      idps: [
        { idpId: 'global', ownerType: 'IDP_OWNER_TYPE_SYSTEM' },
        { idpId: 'own', ownerType: 'IDP_OWNER_TYPE_ORG' },
      ],
    },
  });
  const { summary } = await instance.import({
    comment: 'unknown',
    org_ids: ['a', 'missing'],
    on_conflict: 'overwrite',
    data_orgs: { orgs: [file] },
  });
  expect(new Set(reported.parse(summary.warnings).map(({ reason }) => reason))).toEqual(
    new Set([
      'field_ignored',
      'manifest_missing',
      'states_unknown',
      'organisation_missing',
      'privilege_added',
      'domain_added',
      'state_changed',
      'value_unknown',
      'primary_repeated',
      'id_too_long',
      'hash_unverified',
      'hash_unsupported',
      'seed_unusable',
      'phone_unclear',
      'phone_corrected',
      'provider_missing',
      'providers_not_exported',
    ]),
  );
});
