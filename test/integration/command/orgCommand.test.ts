import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { identity, identityJson } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { sampleOrganisation } from '../../support/fixtures/sampleOrganisation.ts';
import { importInto } from '../../support/http/wire.ts';
import { describeDatabases, notServed, serveSample } from '../../support/instances/commandInstance.ts';

const listed = z.object({ organisations: z.array(z.object({ orgId: z.string() })) });

describeDatabases('identity org delete', (newDatabase) => {
  let { database, instance } = notServed;
  beforeAll(async () => {
    const served = await serveSample(await newDatabase(), sampleOrganisation());
    ({ database, instance } = served);
    const orgs = ['A', 'B', 'C'].map((id) => organisation(id, { humanUsers: [person(`user of ${id}`)] }));
    await importInto(instance, { data_orgs: { orgs } });
    return served.stop;
  });

  const ids = async () => {
    const { organisations } = listed.parse(await identityJson(['org', 'list', ...database]));
    return organisations.map(({ orgId }) => orgId);
  };

  it('says what it would delete and ends with 2, without --yes and a terminal', async () => {
    const before = await ids();
    const { code, stdout, stderr } = await identity(['org', 'delete', 'A', 'B', ...database]);
    const trail = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect({ code, trail }).toEqual({ code: 2, trail: [] });
    expect(stdout).toContain('A\tOrganisation A\t1 people\t0 service users\nB\tOrganisation B');
    expect(stdout).toContain('nothing is deleted: add --yes');
    expect(await ids()).toEqual(before);
  });

  it('deletes several organisations while the instance runs', async () => {
    const before = await ids();
    expect(await identityJson(['org', 'delete', 'A', 'B', 'A', '--yes', ...database])).toMatchObject({
      organisations: [{ orgId: 'A', people: 1 }, { orgId: 'B' }],
      deleted: true,
      records: 4,
    });
    expect(await ids()).toEqual(before.filter((id) => id !== 'A' && id !== 'B'));
  });

  it.each([
    [['C', 'nowhere'], 1, 'organisation nowhere not found'],
    [['C', ''], 64, 'invalid ORG_ID ""'],
    [[], 64, "missing required argument 'ORG_ID'"],
    [Array.from({ length: 201 }, (_, index) => `${index}`), 64, '201 organisations: specify at most 200'],
  ])('rejects wrong arguments (%#)', async (args, expected, message) => {
    const { code, stderr } = await identity(['org', 'delete', ...args, '--yes', ...database]);
    expect({ code, stderr }).toEqual({ code: expected, stderr: expect.stringContaining(message) });
    expect(await ids()).toContain('C');
  });
});
