import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { organisation } from '../../support/fixtures/organisations.ts';
import { report } from '../../support/fixtures/reports.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';

const file = z.looseObject({ orgs: z.array(z.looseObject({ orgId: z.string() })) });

/** Imports a report's file, and exports its organisations. */
async function roundTrip(name: string) {
  const { instance } = await countedInstance();
  const given = file.parse(JSON.parse((await report(name)).toString()));
  const { errors, summary } = await instance.import({ data_orgs: given });
  const org_ids = given.orgs.map(({ orgId }) => orgId);
  const exported = await instance.attempt('export', { org_ids, response_output: true });
  const [org] = file.parse(JSON.parse(exported.text)).orgs;
  return { errors, summary, org };
}

describe('a file of another release of ZITADEL', () => {
  it.each([
    ['eai-domain.json', 'info@b\u00fccher.example'],
    ['eai-local-part.json', 'j\u00fcrgen@reports.example'],
  ])('has people with e-mail addresses outside ASCII: %s', async (name, email) => {
    const { errors, summary, org } = await roundTrip(name);
    expect({ errors, created: summary.created }).toEqual({ errors: undefined, created: { org: 1, humanUsers: 2 } });
    expect(JSON.stringify(org)).toContain(`"email":"${email}"`);
  });

  it.each([
    ['factor-by-name.json', '"SECOND_FACTOR_TYPE_RECOVERY_CODES"'],
    ['factor-by-number.json', '5'],
  ])('keeps a login policy without a factor that is unknown, with a warning: %s', async (name, value) => {
    const { errors, summary, org } = await roundTrip(name);
    expect(errors).toBeUndefined();
    expect(summary.warnings).toContainEqual(
      expect.objectContaining({
        type: 'login_policy',
        reason: 'value_unknown',
        message: `unknown value ${value} of secondFactors: imported without it`,
      }),
    );
    expect(org?.loginPolicy).toMatchObject({ forceMfa: true, secondFactors: ['SECOND_FACTOR_TYPE_OTP'] });
  });

  it.each(['NEW', 9])('has an unknown value of an enumeration that ZITADEL checks: %j', async (value) => {
    const { instance } = await countedInstance();
    const app = { projectId: 'p', name: 'a', redirectUris: ['https://a.example'], appType: value, grantTypes: [value] };
    const records = { projects: [{ projectId: 'p', project: { name: 'P' } }], oidcApps: [{ appId: 'a', app }] };
    const { errors, summary } = await instance.import({ data_orgs: { orgs: [organisation('O', records)] } });
    expect(errors).toBeUndefined();
    for (const field of ['grantTypes', 'appType'])
      expect(summary.warnings).toContainEqual(
        expect.objectContaining({ reason: 'value_unknown', message: expect.stringContaining(`of app.${field}: `) }),
      );
  });

  it.each(['NEW', 9])(
    'of v1 keeps a login policy without factors and providers of an unknown kind: %j',
    async (value) => {
      const { instance } = await countedInstance();
      const given = {
        loginPolicy: { forceMfa: true },
        secondFactors: [{ type: value }, { type: 'SECOND_FACTOR_TYPE_OTP' }],
        multiFactors: [{ type: value }],
        idps: [
          { idpId: 'new', ownerType: value },
          { idpId: 'old', ownerType: 'IDP_OWNER_TYPE_SYSTEM' },
        ],
      };
      const { errors, summary } = await instance.import({ data_orgsv1: { orgs: [organisation('O', given)] } });
      expect({ errors, created: summary.created }).toEqual({ errors: undefined, created: { org: 1, loginPolicy: 1 } });
      const warnings = z.array(z.looseObject({ message: z.string() })).parse(summary.warnings);
      const messages = warnings.map(({ message }) => message);
      for (const field of ['secondFactors', 'multiFactors', 'idps.ownerType'])
        expect(messages).toContain(`unknown value ${JSON.stringify(value)} of ${field}: imported without it`);
      expect(messages).toContain('imported without "new" of idps, which is not valid there');
      const exported = await instance.attempt('export', { org_ids: ['O'], response_output: true });
      const [org] = file.parse(JSON.parse(exported.text)).orgs;
      expect(org?.loginPolicy).toMatchObject({
        forceMfa: true,
        secondFactors: ['SECOND_FACTOR_TYPE_OTP'],
        idps: [{ idpId: 'old', ownerType: 'IDP_OWNER_TYPE_SYSTEM' }],
      });
    },
  );

  it('has texts in any language that is known', async () => {
    const { instance } = await countedInstance();
    const initMessages = ['fi', 'de-AT'].map((language) => ({ language, title: 'Hi' }));
    const { errors, summary } = await instance.import({ data_orgs: { orgs: [organisation('O', { initMessages })] } });
    expect({ errors, created: summary.created }).toEqual({ errors: undefined, created: { org: 1, initMessages: 2 } });
  });

  it('has a password hash that no ZITADEL verifies, with a warning', async () => {
    const { errors, summary } = await roundTrip('hash-unknown-format.json');
    expect(errors).toBeUndefined();
    expect(summary.warnings).toContainEqual(
      expect.objectContaining({
        id: 'x09a',
        reason: 'hash_unsupported',
        message: expect.stringMatching(/^no ZITADEL verifies this format of password hashes/),
      }),
    );
  });

  it('has recovery codes, which are counted as not carried', async () => {
    const { errors, summary } = await roundTrip('recovery-codes.json');
    expect({ errors, notCarried: summary.notCarried }).toEqual({
      errors: undefined,
      notCarried: { 'humanUsers.user.recoveryCodes': 1 },
    });
  });
});
