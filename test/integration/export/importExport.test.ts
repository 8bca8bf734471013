import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { verifyPassword } from '../../../shared/auth/passwordHashing.ts';
import { comparable } from '../../support/fixtures/comparable.ts';
import { filled, withInnerIds } from '../../support/fixtures/filledOrganisation.ts';
import { type Organisation, zitadelExport, zitadelRequest, zitadelText } from '../../support/fixtures/organisations.ts';
import { type Exported, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';

const ACME = '330000000000000001';
const PARTNER = '330000000000000002';

/** The organisations as ZITADEL's own descriptors write them: defaults omitted, names of enums, base64. */
function asZitadelWrites(orgs: readonly Organisation[]): Organisation[] {
  const json = z.json() satisfies z.ZodType<JsonValue>;
  const written = orgs.map((org) => toJson(DataOrgSchema, fromJson(DataOrgSchema, json.parse(org), lenient)));
  return z.array(z.looseObject({ orgId: z.string() })).parse(written);
}

const lenient = { ignoreUnknownFields: true };
const records = z.array(z.record(z.string(), z.unknown())).default([]);
const user = z.looseObject({
  password: z.string().optional(),
  hashedPassword: z.unknown().optional(),
  userId: z.string().optional(),
  phone: z.looseObject({ phone: z.string() }).optional(),
  profile: z.looseObject({ preferredLanguage: z.string().optional() }).optional(),
});
const stateful = z
  .array(z.looseObject({ userId: z.string().optional(), user, state: z.string().optional() }))
  .default([]);

/** The states that ZITADEL gave to the people of its request, as it exported them later. */
const statesInZitadel = zitadelExport('export-full').flatMap((org) => stateful.parse(org.humanUsers));

/**
 * The deliberate changes of the service in a record: states are filled in, as by ZITADEL, phone numbers are normalised, a
 * service user has one id, a clear password becomes a hash (checked separately), flows have numbers, and references to the
 * record's organisation contain the id of the surrounding one.
 */
function normalised(org: Organisation): Organisation {
  const { orgId } = org;
  const flows = new Map([
    ['FLOW_TYPE_EXTERNAL_AUTHENTICATION', '1'],
    ['TRIGGER_TYPE_PRE_CREATION', '2'],
  ]);
  const flow = (name: unknown) => flows.get(String(name)) ?? name;
  const states = new Map(statesInZitadel.map(({ userId, state }) => [userId, state]));
  const changed = {
    humanUsers: stateful.parse(org.humanUsers).map(({ user: { password, ...rest }, ...person }) => ({
      state: states.get(person.userId ?? '') ?? 'USER_STATE_ACTIVE',
      ...person,
      user: {
        ...rest,
        ...(rest.profile?.preferredLanguage === 'xx' ? { profile: { ...rest.profile, preferredLanguage: 'und' } } : {}),
        ...(rest.phone ? { phone: { ...rest.phone, phone: rest.phone.phone.replaceAll(/[ ()-]/g, '') } } : {}),
        ...(password === undefined ? {} : { hashedPassword: 'made of the password' }),
      },
    })),
    machineUsers: stateful.parse(org.machineUsers).map(({ user: { userId, ...rest }, ...machine }) => ({
      state: 'USER_STATE_ACTIVE',
      userId,
      ...machine,
      user: rest,
    })),
    triggerActions: records.parse(org.triggerActions).map((action) => ({
      ...action,
      flowType: flow(action.flowType),
      triggerType: flow(action.triggerType),
    })),
    domains: records.parse(org.domains).map((domain) => ({ ...domain, orgId })),
  };
  const present = Object.entries(changed).filter(([name]) => name in org);
  return { orgState: 'ORG_STATE_ACTIVE', ...org, ...Object.fromEntries(present) };
}

/** The export without the hashes that were made of clear passwords, and those hashes. */
function withoutMadeHashes({ orgs }: Exported): { orgs: Organisation[]; hashes: string[] } {
  const hashes: string[] = [];
  const text = JSON.stringify(orgs, (_name, part: unknown) => {
    const hash = z.object({ value: z.string().startsWith('$2b$04$') }).safeParse(part);
    if (!hash.success) return part;
    hashes.push(hash.data.value);
    return 'made of the password';
  });
  return { orgs: z.array(z.looseObject({ orgId: z.string() })).parse(JSON.parse(text)), hashes };
}

describe('an export of an imported file', () => {
  it('contains the same organisations field by field, from a file that ZITADEL wrote', async () => {
    const file = zitadelExport('export-full');
    const instance = await testInstance(await openTestStore());
    const { errors, summary } = await instance.import({ data_orgsv1: { orgs: file }, with_keys: true });
    expect({ errors, failed: summary.failed }).toEqual({ errors: undefined, failed: {} });
    // ZITADEL lists the members of every project under every organisation; they are kept with their project.
    expect(summary.notCarried).toEqual({ projectMembers: 2 });
    const expected = file.map(({ projectMembers, ...org }) => (org.orgId === ACME ? { ...org, projectMembers } : org));
    expect(comparable((await instance.export()).orgs)).toEqual(comparable(expected.map(withInnerIds)));
  });

  it("contains all 39 fields of an organisation, as ZITADEL's descriptors write them", async () => {
    const orgs = zitadelRequest('import-request');
    const instance = await testInstance(await openTestStore());
    const { errors } = await instance.import({ dataOrgs: { orgs }, withKeys: true });
    expect(errors).toBeUndefined();
    const exported = await instance.export();
    expect(exported.orgs.map(({ orgId }) => orgId).sort()).toEqual([ACME, PARTNER]);
    const acme = exported.orgs.find(({ orgId }) => orgId === ACME) ?? {};
    expect(Object.keys(acme).sort()).toEqual(DataOrgSchema.fields.map(({ jsonName }) => jsonName).sort());
    expect(comparable(asZitadelWrites(exported.orgs))).toEqual(comparable(exported.orgs));
    const { orgs: comparableOrgs, hashes } = withoutMadeHashes(exported);
    expect(comparable(comparableOrgs)).toEqual(comparable(asZitadelWrites(orgs).map(normalised).map(filled)));
    const clear = orgs
      .flatMap(({ humanUsers }) => stateful.parse(humanUsers))
      .flatMap(({ user: { password = [] } }) => password);
    expect(await Promise.all(clear.map((password, index) => verifyPassword(password, hashes[index] ?? '')))).toEqual([
      true,
    ]);
  });

  it('contains a v1 document, whose own fields become those of v2', async () => {
    const instance = await testInstance(await openTestStore());
    const { errors, success } = await instance.import(zitadelText('import-v1-request'));
    // The document has the same trigger twice, once in each generation's spelling.
    expect(errors).toEqual([
      { type: 'trigger_action', id: '1_1', message: 'ID=COMMAND-Nfh52 Message=Errors.Flow.AlreadyExists' },
    ]);
    expect(success.orgs).toEqual([
      {
        orgId: 'v1-org-1',
        humanUserIds: ['v1|1', 'v1|2'],
        actionIds: ['v1-act'],
        triggerActions: [{ flowType: '1', triggerType: '1', actionIds: ['v1-act'] }],
        domains: ['v1.example'],
      },
    ]);
    const [org] = (await instance.export()).orgs;
    expect(org).toMatchObject({
      domainPolicy: { orgId: 'v1-org-1', userLoginMustBeDomain: true },
      loginPolicy: {
        passwordCheckLifetime: '60s',
        secondFactors: ['SECOND_FACTOR_TYPE_OTP'],
        multiFactors: ['MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION'],
      },
      triggerActions: [{ flowType: '1', triggerType: '1', actionIds: ['v1-act'] }],
      domains: [{ orgId: 'v1-org-1', domainName: 'v1.example', isVerified: true, isPrimary: true }],
    });
    const hash = '$2a$14$aPbwhMVJSVrRRW2NoM/5.esSJO6o/EIGzGxWiM5SAEZlGqCsr9DAK';
    const states = stateful
      .parse(org?.humanUsers)
      .map(({ userId, state, user: { hashedPassword } }) => [userId, state, hashedPassword]);
    expect(states.sort()).toEqual([
      ['v1|1', 'USER_STATE_ACTIVE', { value: hash }],
      ['v1|2', 'USER_STATE_INACTIVE', undefined],
    ]);
  });

  it("contains a v1 document's trigger numbers, and its login policy's parts in any position", async () => {
    const instance = await testInstance(await openTestStore());
    const org = {
      triggerActions: [{ flowType: 1, triggerType: 3, actionIds: ['a'] }],
      idps: [{ idpId: 'i', ownerType: 'IDP_OWNER_TYPE_ORG' }],
      oidcIdps: [{ idpId: 'i', idp: { name: 'i', clientId: 'c', clientSecret: 's', issuer: 'https://i.example' } }],
      secondFactors: [{ type: 1 }, { type: 'SECOND_FACTOR_TYPE_U2F' }],
      loginPolicy: { allowUsernamePassword: true, secondFactors: ['SECOND_FACTOR_TYPE_OTP_SMS'] },
      multiFactors: [{ type: 'MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION' }],
      actions: [{ actionId: 'a', action: { name: 'a', script: 'function a() {}' } }],
      org: { name: 'Old' },
      orgId: 'old',
    };
    expect((await instance.import({ data_orgsv1: { orgs: [org] } })).errors).toBeUndefined();
    const [exported] = (await instance.export()).orgs;
    expect(exported).toMatchObject({
      triggerActions: [{ flowType: '1', triggerType: '3', actionIds: ['a'] }],
      loginPolicy: {
        allowUsernamePassword: true,
        secondFactors: ['SECOND_FACTOR_TYPE_OTP', 'SECOND_FACTOR_TYPE_U2F'],
        multiFactors: ['MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION'],
        idps: [{ idpId: 'i', ownerType: 'IDP_OWNER_TYPE_ORG' }],
      },
    });
  });
});
