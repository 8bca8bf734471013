import { ScalarType } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { changeRole } from '../../../shared/accounts/members.ts';
import { createServiceUser } from '../../../shared/accounts/serviceUsers.ts';
import { sections } from '../../../shared/organisation/sections.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';
import { type Organisation, organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { repetitions } from '../../support/repetitions.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import type { FieldPlace } from '../../support/strings/fieldPlaces.ts';
import { edgeValues } from './closure/edgeValues.ts';
import { expectClosed, expectClosedExport, expectOtherForms } from './closure/expectClosed.ts';
import { languageTags } from './closure/languageTags.ts';
import { type Change, placesOf, variantOrganisations } from './closure/variants.ts';

/** The interval of tried values of a field, and the number of random choices. */
const { part, runs } = repetitions({ few: { part: 32, runs: 2 }, many: { part: 1, runs: 100 } });
const LONG = 'x'.repeat(201);
const projects = [{ projectId: 'p', project: { name: 'project' } }];
const speaking = (preferredLanguage: string) => ({ profile: { firstName: 'F', lastName: 'L', preferredLanguage } });

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

  it('can be imported again for every language of a person', async () => {
    const humanUsers = languageTags.map((tag, index) => person(`u${index}`, speaking(tag)));
    const { report } = await expectClosed(sqlite, [organisation('o', { humanUsers })]);
    expect(report.errors).toBeUndefined();
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

/** An organisation that grants another organisation a project, and refers to it in every way that records can. */
function granting(org: string, other: string): Organisation {
  return organisation(org, {
    humanUsers: [person(`user of ${org}`)],
    machineUsers: [{ userId: `robot of ${org}`, user: { userName: `robot of ${org}`, name: 'Robot' } }],
    projects: [{ projectId: `project of ${org}`, project: { name: 'Project' } }],
    projectRoles: [{ projectId: `project of ${org}`, roleKey: 'reader', displayName: 'Reader' }],
    projectGrants: [
      {
        grantId: `grant of ${org}`,
        projectGrant: { projectId: `project of ${org}`, grantedOrgId: other, roleKeys: ['reader'] },
      },
    ],
    userGrants: [{ userId: `user of ${org}`, projectId: `project of ${other}`, roleKeys: ['reader'] }],
    orgMembers: [{ userId: `user of ${other}`, roles: ['ORG_OWNER'] }],
    projectMembers: [{ projectId: `project of ${org}`, userId: `robot of ${other}`, roles: ['PROJECT_OWNER'] }],
  });
}

const ids = ['orgId', 'grantedOrgId', 'userId', 'projectId', 'grantId', 'projectGrantId', 'roleKey'];
const names = ['name', 'userName', 'firstName', 'lastName', 'displayName'];

/** Makes ids, names and role keys of the maximum length: of characters of one to four bytes, and equal for equal input. */
function atLimit(orgs: readonly Organisation[]): Organisation[] {
  const longest = (text: string) => {
    const unit = ['x', 'ü', '€', '😀'][text.length % 4] ?? 'x';
    return text + unit.repeat(200 - text.length);
  };
  const text = JSON.stringify(orgs, (name, value: unknown) => {
    if (name === 'roleKeys' && Array.isArray(value)) return value.map((key) => longest(String(key)));
    return typeof value === 'string' && [...ids, ...names].includes(name) ? longest(value) : value;
  });
  return z.array(z.looseObject({ orgId: z.string() })).parse(JSON.parse(text));
}

describe('an export of generated records', () => {
  it('can be imported again with ids and names of the maximum length', async () => {
    const { report, source } = await expectClosed(
      sqlite,
      atLimit([granting('north', 'southern'), granting('southern', 'north')]),
    );
    expect(report.errors).toBeUndefined();
    await expectOtherForms(sqlite, { source });
  });

  it('can be imported again with any edge value in a field', async () => {
    const isTried = (index: number) => index % part === 0;
    const ofSection = (places: readonly FieldPlace[]) =>
      changesAt(places.filter(({ section }, index) => section !== 'loginTexts' || isTried(index)));
    const variants = [...placesOf].map(([section, places], at) => {
      const changes = ofSection(places).filter((_change, index) => isTried(index + at));
      return [section, changes.map((change) => [change])] as const;
    });
    await expectOtherForms(sqlite, await expectClosed(sqlite, variantOrganisations(new Map(variants))));
  });

  it('can be imported again with any combination of field values', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryVariants, async (variants) => {
        await expectOtherForms(sqlite, await expectClosed(sqlite, variantOrganisations(variants)));
      }),
      { numRuns: runs, endOnFailure: true },
    );
  });
});

/** Lists the changes to each value at the edges of a field. Hashing a clear password takes too long to try many. */
function changesAt(places: readonly FieldPlace[]): Change[] {
  return places.flatMap((place) => {
    if (place.field === undefined || place.field.jsonName === 'password') return [];
    return edgeValues(place.field).map((value) => ({ place, value }));
  });
}

const arbitraryVariants = fc
  .array(
    fc.constantFrom(...sections).chain(({ name }) => fc.tuple(fc.constant(name), arbitraryChanges(name))),
    {
      maxLength: 300,
    },
  )
  .map((all) => {
    const bySection = Map.groupBy(all, ([name]) => name);
    return new Map([...bySection].map(([name, some]) => [name, some.map(([, changes]) => changes)]));
  });

function arbitraryChanges(section: string): fc.Arbitrary<readonly Change[]> {
  const places = (placesOf.get(section) ?? []).filter((place) => changesAt([place]).length > 0);
  const change = fc.constantFrom(...places).chain((place): fc.Arbitrary<Change> => {
    const edge = fc.constantFrom(...changesAt([place]));
    if (place.field?.scalar !== ScalarType.STRING || place.field.fieldKind === 'list') return edge;
    return fc.oneof(
      edge,
      fc.string({ unit: anyCharacter, maxLength: 30 }).map((value) => ({ place, value })),
    );
  });
  return fc.array(change, { minLength: 1, maxLength: 4 });
}
