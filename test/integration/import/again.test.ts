import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sections } from '../../../shared/organisation/allSections.ts';
import { changed, changes } from '../../support/fixtures/changedOrganisation.ts';
import { comparable } from '../../support/fixtures/comparable.ts';
import { person, zitadelExport, zitadelText } from '../../support/fixtures/organisations.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';

const sorted = (entries: readonly unknown[] = []) => entries.map((entry) => JSON.stringify(entry)).sort();

describe('an existing record with other content in the file', () => {
  it('is reported with the type, id and message of ZITADEL, for every section, and is not changed', async () => {
    const { instance, writesOf } = await countedInstance();
    const orgs = zitadelExport('export-full');
    await instance.import({ dataOrgs: { orgs }, with_keys: true });
    const before = await instance.export();
    const body = { dataOrgs: { orgs: orgs.map(changed) }, with_keys: true };
    const { result, writes } = await writesOf(() => instance.import(body));
    const zitadels = z
      .object({ errors: z.array(z.object({ type: z.string(), id: z.string(), message: z.string() })) })
      .parse(JSON.parse(zitadelText('reimport-same-instance-response')))
      .errors.map((error) => ({ ...error, message: error.message.replace(/ Parent=.*$/, '') }));
    // ZITADEL gave service users new ids, so their names collided; TOTP is part of the user here; duplicate members of projects
    // are imported once; a flow with the same actions is unchanged here, so that another message fits a flow with others.
    const others = ['machine_user', 'human_user_otp', 'project_member', 'trigger_action'];
    const ours = ['init_message', 'login_texts', 'user_metadata'];
    const ofSameType = (result.errors ?? []).filter(({ type }) => zitadels.some((error) => error.type === type));
    const comparedTypes = ({ type }: { type: string }) => !others.includes(type);
    expect(sorted(ofSameType.filter(comparedTypes))).toEqual(sorted(zitadels.filter(comparedTypes)));
    const types = new Set(result.errors?.map(({ type }) => type));
    for (const type of [...ours, 'machine_user', 'project_member', 'trigger_action']) expect(types).toContain(type);
    const { orgs: _total, ...counts } = before.manifest.counts;
    expect(result.summary.failed).toEqual(counts);
    expect({ writes, created: result.summary.created }).toEqual({ writes: 0, created: {} });
    expect(comparable((await instance.export()).orgs)).toEqual(comparable(before.orgs));
  });
});

describe('the changed records of these tests', () => {
  it('include one of every section', () => {
    const names = sections.map(({ name }) => name);
    expect(Object.keys(changes).sort()).toEqual(['org', ...names].sort());
  });
});

describe('an organisation without a description in the document', () => {
  const content = { humanUsers: [person('A')], projects: [{ projectId: 'X', project: { name: 'x' } }] };

  it('can be the default organisation', async () => {
    const { instance } = await countedInstance();
    const { errors, success } = await instance.import({ dataOrgs: { orgs: [{ orgId: instance.orgId, ...content }] } });
    expect(errors).toBeUndefined();
    expect(success.orgs).toEqual([{ orgId: instance.orgId, humanUserIds: ['A'], projectIds: ['X'] }]);
  });
});
