import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call } from '../../support/command.ts';
import { comparable } from '../../support/fixtures/comparable.ts';
import { withInnerIds } from '../../support/fixtures/filledOrganisation.ts';
import {
  type Organisation,
  organisation,
  person,
  zitadelRequest,
  zitadelText,
} from '../../support/fixtures/organisations.ts';
import { lossesInZitadel } from '../../support/fixtures/zitadelImport.ts';
import { leftToDo } from '../../support/http/wire.ts';
import { type Exported, testInstance } from '../../support/instances/testInstance.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import { exportForZitadel } from '../../support/zitadel/forZitadel.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const NORTHWIND = '400633194090597414';
const response = z.object({ errors: z.array(z.object({ type: z.string(), id: z.string() })) });
const ofProject = z.array(z.looseObject({ projectId: z.string() })).default([]);
const providers = z.array(z.looseObject({ idpId: z.string() })).default([]);

/** The errors that ZITADEL reported, without those for records that it imported. */
function recordedLosses(name: string): string[] {
  const { errors } = response.parse(JSON.parse(zitadelText(name)));
  return errors
    .filter(({ type }) => !['org', 'domain', 'domain_isverified'].includes(type))
    .map(({ type, id }) => `${type} ${id}`)
    .sort();
}

/** The first entries of a file, and the second entries, which follow them. */
function entries({ orgs }: Pick<Exported, 'orgs'>) {
  const seen = new Set<string>();
  const second = orgs.filter(({ orgId }) => seen.size === seen.add(orgId).size);
  const first = orgs.slice(0, orgs.length - second.length);
  expect(orgs.slice(first.length)).toEqual(second);
  return { first, second };
}

/** The organisations in the form that ZITADEL imports without a loss: first entries, then second entries. */
function adjusted(orgs: readonly Organisation[]): { first: Organisation[]; second: Organisation[] } {
  const split = orgs.map((org) => {
    const own = new Set(ofProject.parse(org.projects).map(({ projectId }) => projectId));
    const held = new Set([...providers.parse(org.oidcIdps), ...providers.parse(org.jwtIdps)].map(({ idpId }) => idpId));
    const { idps, ...policy } = z.looseObject({ idps: providers }).parse(org.loginPolicy ?? {});
    const kept = idps.filter(({ idpId }) => held.has(idpId));
    const first: Organisation = withInnerIds({
      ...org,
      ...('loginPolicy' in org ? { loginPolicy: { ...policy, ...(kept.length === 0 ? {} : { idps: kept }) } } : {}),
    });
    const second: Organisation = { orgId: org.orgId };
    for (const name of ['userGrants', 'projectMembers', 'projectGrantMembers']) {
      const records = ofProject.parse(org[name]);
      const [ownRecords, late] = [true, false].map((isOwn) =>
        records.filter(({ projectId }) => own.has(projectId) === isOwn),
      );
      if (ownRecords?.length === 0) delete first[name];
      else first[name] = ownRecords;
      if (late !== undefined && late.length > 0) second[name] = late;
    }
    return { first, second };
  });
  return {
    first: split.map(({ first }) => first),
    second: split.map(({ second }) => second).filter((org) => Object.keys(org).length > 1),
  };
}

describe('the recorded import of an export of this service into a ZITADEL', () => {
  it('lost exactly the records that the order of its work and the ids in its records explain', () => {
    const losses = lossesInZitadel(zitadelRequest('import-of-our-export-request'));
    expect(losses).toHaveLength(5);
    expect(losses).toEqual(recordedLosses('import-of-our-export-response'));
  });

  it('lost nothing in the adjusted form', () => {
    const { first, second } = adjusted(zitadelRequest('import-of-our-export-request'));
    expect(recordedLosses('import-of-our-adjusted-export-response')).toEqual([]);
    expect(lossesInZitadel([...first, ...second])).toEqual([]);
  });
});

describe('an export for ZITADEL', () => {
  it('has the lossless form of records that a ZITADEL lost in part', async () => {
    const orgs = zitadelRequest('import-of-our-export-request');
    const instance = await testInstance(await openTestStore(sqlite));
    expect((await instance.import({ data_orgs: { orgs } })).errors).toBeUndefined();
    const file = await exportForZitadel(instance);
    expect(lossesInZitadel(file.orgs)).toEqual([]);
    const { first, second } = entries(file);
    const expected = adjusted(orgs);
    expect(comparable(first)).toEqual(comparable(expected.first));
    expect(comparable(second)).toEqual(comparable(expected.second));
    expect(second).toEqual([
      {
        orgId: NORTHWIND,
        userGrants: [
          {
            userId: '400633200197504038',
            projectId: '400633271785884710',
            projectGrantId: '400633276852603942',
            roleKeys: ['user'],
          },
        ],
      },
    ]);
    const plain = await instance.export();
    expect(comparable(plain.orgs)).toEqual(comparable(orgs.map(withInnerIds)));
  });

  it('lists the remaining steps, more than an export for every target', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    await instance.import({ data_orgs: { orgs: zitadelRequest('import-of-our-export-request') } });
    const entriesOf = async (request: object) => leftToDo.parse((await instance.export(request)).manifest.leftToDo);
    const idsOf = (entries: z.infer<typeof leftToDo>) =>
      entries.flatMap(({ type, id }) => (id ? [`${type} ${id}`] : []));
    expect(idsOf(await entriesOf({}))).toEqual([`login_policy ${NORTHWIND}`]);
    const without = await entriesOf({ with_passwords: false, with_otp: false, with_keys: false });
    expect(without.map(({ message }) => message).join('\n')).toMatch(/hashes.*TOTP.*machine keys.*application keys/s);
    expect(idsOf(without)).toEqual([
      'oidc_idp 400633199694187558',
      'oidc_idp 400633200012954662',
      `login_policy ${NORTHWIND}`,
    ]);
    expect(idsOf(leftToDo.parse((await exportForZitadel(instance)).manifest.leftToDo))).toEqual([
      'human_user 400633232627862566',
      'human_user 400633232896298022',
      'human_user 400633205884980262',
      `init_message ${NORTHWIND}`,
      `password_reset_message ${NORTHWIND}`,
      `verify_email_message ${NORTHWIND}`,
      `domain_claimed_message ${NORTHWIND}`,
      `passwordless_registration_message ${NORTHWIND}`,
      `verify_phone_message ${NORTHWIND}`,
      `verify_sms_otp_message ${NORTHWIND}`,
      `verify_email_otp_message ${NORTHWIND}`,
      // It has a validation type. The domain policy keeps it unverified.
      'domain 400633194409364518_uebung.example',
      `login_policy ${NORTHWIND}`,
    ]);
  });
});

/** Organisations with users that have grants and memberships on the projects of all organisations. */
function entangled(count: number, users: number): Organisation[] {
  const ids = Array.from({ length: count }, (_, index) => `O${index}`);
  return ids.map((orgId) => {
    const userIds = Array.from({ length: users }, (_, index) => `${orgId} U${index}`);
    const others = ids.filter((id) => id !== orgId);
    return organisation(orgId, {
      projects: [{ projectId: `P of ${orgId}`, project: { name: 'P' } }],
      humanUsers: userIds.map((userId) => ({ ...person(userId), state: 'USER_STATE_ACTIVE' })),
      projectGrants: others.map((other) => ({
        grantId: `${orgId} to ${other}`,
        projectGrant: { projectId: `P of ${orgId}`, grantedOrgId: other },
      })),
      userGrants: userIds.flatMap((userId) => [
        { userId, projectId: `P of ${orgId}` },
        ...others.map((other) => ({ userId, projectId: `P of ${other}`, projectGrantId: `${other} to ${orgId}` })),
      ]),
      projectMembers: userIds.map((userId) => ({ projectId: `P of ${orgId}`, userId, roles: ['PROJECT_OWNER'] })),
      projectGrantMembers: userIds.flatMap((userId) =>
        others.map((other) => ({
          projectId: `P of ${other}`,
          grantId: `${other} to ${orgId}`,
          userId,
          roles: ['PROJECT_GRANT_OWNER'],
        })),
      ),
      orgState: 'ORG_STATE_ACTIVE',
    });
  });
}

describe('an export for ZITADEL of many records of other projects', () => {
  it('has them in second entries, whether it reads organisations one by one or all at once', async () => {
    const orgs = entangled(3, 200);
    const instance = await testInstance(await openTestStore());
    expect((await instance.import({ data_orgs: { orgs } })).errors).toBeUndefined();
    const expected = adjusted(orgs);
    for (const org_ids of [[], ['O2', 'O0', 'O1']]) {
      const file = await exportForZitadel(instance, { org_ids });
      const { first, second } = entries(file);
      expect(comparable(first)).toEqual(comparable(expected.first));
      expect(comparable(second)).toEqual(comparable(expected.second));
      expect(second.map(({ orgId }) => orgId)).toEqual(first.map(({ orgId }) => orgId));
      expect(lossesInZitadel(file.orgs)).toEqual([]);
      expect(file.manifest.counts).toMatchObject({ orgs: 3, org: 3, userGrants: 1_800, projectGrantMembers: 1_200 });
      const { summary } = await instance.import({ data_orgs: JSON.parse(file.bytes) });
      expect(summary).toMatchObject({ proved: true, created: {}, failed: {} });
    }
  });

  it('has no second entries if no records need them', async () => {
    const instance = await testInstance(await openTestStore());
    await instance.import({ data_orgs: { orgs: entangled(1, 3) } });
    const [plain, forZitadel] = [await instance.export(), await exportForZitadel(instance)];
    expect(forZitadel.orgs).toEqual(plain.orgs);
  });
});

describe('an export of some organisations', () => {
  it('lists the records that depend on an omitted organisation', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    await instance.import({ data_orgs: { orgs: entangled(3, 1) } });
    const entriesOf = async (request: object) => {
      const { manifest } = await instance.export({ excluded_org_ids: [], ...request });
      const all = leftToDo.parse(manifest.leftToDo);
      return all
        .filter(({ message }) => message.includes('does not contain'))
        .map(({ id, message }) => `${id} ${message}`);
    };
    const advice = 'the file does not contain organisations to which this record refers';
    const expected = [
      ['O0_P of O0_O1', 'O1'],
      ['O0_P of O1_O0 U0', 'O1'],
      ['O0_P of O1_O1 to O0_O0 U0', 'O1'],
    ].map(([id, omitted]) => `${id} ${advice}: import ${omitted} before this file`);
    const found = await entriesOf({ org_ids: ['O0', 'O2'] });
    expect(found.filter((entry) => entry.startsWith('O0')).toSorted()).toEqual(expected);
    expect(found).toHaveLength(6);
    expect((await entriesOf({ excluded_org_ids: ['O1'] })).toSorted()).toEqual(found.toSorted());
    const { manifest } = await exportForZitadel(instance, { excluded_org_ids: ['O1'] });
    const reasons = leftToDo.parse(manifest.leftToDo).filter(({ message }) => message.includes('does not contain'));
    expect(reasons).toHaveLength(6);
    expect(await entriesOf({})).toEqual([]);
  });
});

describe('the command export with --for-zitadel', () => {
  const everything = ['--with', 'passwords,otp,keys', '--for-zitadel'];
  // ZITADEL's manifest has fewer fields than that of an instance.
  const file = z.object({ orgs: z.array(z.looseObject({ orgId: z.string() })), manifest: z.looseObject({}) });

  async function exported(from: string, ...options: string[]) {
    const path = join(await testDirectory(), 'zitadel.json');
    await call(['export', from, '--to', path, ...options, ...everything], 0, 'exported');
    const bytes = await readFile(path, 'utf8');
    return { ...file.parse(JSON.parse(bytes)), bytes };
  }

  async function expectProved({ bytes }: Pick<Exported, 'bytes'>): Promise<void> {
    const target = await testInstance(await openTestStore(sqlite));
    const { errors, summary } = await target.import(`{"with_keys":true,"data_orgs":${bytes}}`);
    expect({ errors, ...summary }).toMatchObject({ errors: undefined, proved: true, failed: {}, notCarried: {} });
  }

  it('orders the export of a server and of a database alike', async () => {
    const place = await servedPlace(sqlite);
    const path = join(await testDirectory(), 'orgs.json');
    await writeFile(path, JSON.stringify({ orgs: entangled(2, 2) }));
    await call(['import', path, '--to', place.database], 0);
    const ofServer = await exported(place.url, '--token-file', place.tokenFile, '--exclude-org', place.orgId);
    const ofDatabase = await exported(place.database, '--exclude-org', place.orgId);
    expect(ofDatabase.orgs).toEqual(ofServer.orgs);
    expect(entries(ofServer).second.map(({ orgId }) => orgId)).toEqual(['O0', 'O1']);
    expect(lossesInZitadel(ofServer.orgs)).toEqual([]);
    expect(ofServer.manifest).not.toHaveProperty('instanceId');
    await expectProved(ofServer);
  });

  it('orders the export of ZITADEL, and writes the inner ids of its service users', async () => {
    const [owner, granted] = entangled(2, 1);
    const robot = { userId: 'robot', user: { userName: 'robot', name: 'Robot' }, state: 'USER_STATE_ACTIVE' };
    const { zitadel, tokenFile } = await filledZitadel([
      { ...owner, userGrants: [], projectGrantMembers: [], machineUsers: [robot] },
      { ...granted },
    ]);
    const ofZitadel = await exported(zitadel.url, '--token-file', tokenFile, '--org', 'O1', '--org', 'O0');
    expect(entries(ofZitadel).second.map(({ orgId }) => orgId)).toEqual(['O1']);
    expect(lossesInZitadel(ofZitadel.orgs)).toEqual([]);
    expect(ofZitadel.manifest).not.toHaveProperty('instanceId');
    await expectProved(ofZitadel);
  });

  it('does not order a file', async () => {
    const path = join(await testDirectory(), 'orgs.json');
    await call(
      ['export', path, '--to', '-', '--for-zitadel'],
      64,
      '--for-zitadel, which apply only to instances and databases',
    );
  });
});

it('a request with for_zitadel is rejected, because only the command writes this form', async () => {
  const instance = await testInstance(await openTestStore());
  const { status, text } = await instance.attempt('export', { response_output: true, for_zitadel: true });
  expect(status).toBe(400);
  expect(text).toContain('for_zitadel: unknown field: `identity export --for-zitadel` writes files for ZITADEL');
});
