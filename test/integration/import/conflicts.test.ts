import { describe, expect, it } from 'vitest';
import { changed } from '../../support/fixtures/changedOrganisation.ts';
import { comparable } from '../../support/fixtures/comparable.ts';
import { organisation, person, zitadelExport } from '../../support/fixtures/organisations.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';
import { sqlite } from '../../support/stores/stores.ts';

const full = zitadelExport('export-full');
const skipping = (...orgs: object[]) => ({ dataOrgs: { orgs }, with_keys: true, on_conflict: 'skip' });
const overwriting = (...orgs: object[]) => ({ dataOrgs: { orgs }, with_keys: true, on_conflict: 'overwrite' });
const reporting = (...orgs: object[]) => ({ dataOrgs: { orgs }, with_keys: true });

describe('on_conflict "skip"', () => {
  it('leaves records of every section that are there with other content as they are, and counts them', async () => {
    const { instance, writesOf } = await countedInstance(sqlite);
    await instance.import(reporting(...full));
    const before = await instance.export();
    const { result, writes } = await writesOf(() => instance.import(skipping(...full.map(changed))));
    const { orgs: _total, ...counts } = before.manifest.counts;
    expect({ writes, errors: result.errors, skipped: result.summary.skipped }).toEqual({
      writes: 0,
      errors: undefined,
      skipped: counts,
    });
    expect((await instance.export()).manifest.digest).toBe(before.manifest.digest);
  });

  it('leaves them alone too where the file has a taken name, another scope of login names or a foreign domain', async () => {
    const { instance } = await countedInstance(sqlite);
    const people = [person('A'), person('B')];
    const policy = (userLoginMustBeDomain: boolean) => ({ domainPolicy: { orgId: 'O', userLoginMustBeDomain } });
    const holder = organisation('P', { domains: [{ domainName: 'p.example', isVerified: true }] });
    await instance.import(reporting(holder, organisation('O', { ...policy(false), humanUsers: people })));
    const before = await instance.export();
    const humanUsers = [person('A', { userName: 'B' }), person('B', { userName: 'me@p.example' })];
    const named = { ...organisation('O', { ...policy(true), humanUsers }), org: { name: 'P' } };
    const { errors, summary } = await instance.import(skipping(named));
    expect({ errors, skipped: summary.skipped }).toEqual({
      errors: undefined,
      skipped: { org: 1, domainPolicy: 1, humanUsers: 2 },
    });
    expect((await instance.export()).manifest.digest).toBe(before.manifest.digest);
  });

  it('creates what is not there', async () => {
    const { instance } = await countedInstance(sqlite);
    await instance.import(reporting(organisation('O', { humanUsers: [person('A')] })));
    const humanUsers = [person('A', { userName: 'other' }), person('B')];
    const { summary } = await instance.import(skipping(organisation('O', { humanUsers })));
    expect(summary).toMatchObject({ created: { humanUsers: 1 }, skipped: { humanUsers: 1 }, unchanged: { org: 1 } });
  });
});

describe('on_conflict "overwrite"', () => {
  it('brings records of every section to what the document says, and a second time writes nothing', async () => {
    const { instance, writesOf } = await countedInstance(sqlite);
    await instance.import(reporting(...full));
    const alone = await countedInstance(sqlite);
    await alone.instance.import(reporting(...full.map(changed)));
    const wanted = await alone.instance.export();
    const { errors, summary } = await instance.import(overwriting(...full.map(changed)));
    const { orgs: _total, ...counts } = wanted.manifest.counts;
    expect({ errors, overwritten: summary.overwritten, failed: summary.failed }).toEqual({
      errors: undefined,
      overwritten: counts,
      failed: {},
    });
    expect(comparable((await instance.export()).orgs)).toEqual(comparable(wanted.orgs));
    const again = await writesOf(() => instance.import(overwriting(...full.map(changed))));
    expect({ writes: again.writes, unchanged: again.result.summary.unchanged }).toEqual({
      writes: 0,
      unchanged: counts,
    });
  });

  it('lists what it overwrote among the successes', async () => {
    const { instance } = await countedInstance(sqlite);
    await instance.import(reporting(organisation('O', { humanUsers: [person('A'), person('B')] })));
    const humanUsers = [person('A', { userName: 'other' }), person('B')];
    const { success } = await instance.import(overwriting(organisation('O', { humanUsers })));
    expect(success.orgs).toEqual([{ orgId: 'O', humanUserIds: ['A'] }]);
  });

  it('keeps credentials that the document does not carry, and takes those that it does', async () => {
    const { instance } = await countedInstance(sqlite);
    const hashed = (value: string) => ({ hashedPassword: { value }, otpCode: 'JBSWY3DPEHPK3PXP' });
    const body = (user: object) => organisation('O', { humanUsers: [{ ...person('A', user), otpEmail: true }] });
    await instance.import(reporting(body(hashed('$2a$10$first'))));
    await instance.import(overwriting(body({ nickName: 'x', profile: { firstName: 'F', lastName: 'Other' } })));
    expect((await instance.export()).orgs[0]?.humanUsers).toMatchObject([
      {
        user: {
          hashedPassword: { value: '$2a$10$first' },
          otpCode: 'JBSWY3DPEHPK3PXP',
          profile: { lastName: 'Other' },
        },
      },
    ]);
    await instance.import(overwriting(body(hashed('$2a$10$second'))));
    expect((await instance.export()).orgs[0]?.humanUsers).toMatchObject([
      { otpEmail: true, user: { hashedPassword: { value: '$2a$10$second' } } },
    ]);
  });

  it('hashes a clear password that is another one, and leaves one that is the same', async () => {
    const { instance, writesOf } = await countedInstance(sqlite);
    const body = (password: string) => organisation('O', { humanUsers: [person('A', { password })] });
    await instance.import(reporting(body('Password1!')));
    expect((await instance.import(overwriting(body('Password2!')))).summary.overwritten).toEqual({ humanUsers: 1 });
    expect((await writesOf(() => instance.import(overwriting(body('Password2!'))))).writes).toBe(0);
  });

  it('frees the name that a record had, and gives it the new one', async () => {
    const { instance } = await countedInstance(sqlite);
    const people = (...names: string[]) =>
      organisation('O', { humanUsers: names.map((userName, index) => person(`P${index}`, { userName })) });
    await instance.import(reporting(people('anna', 'bert')));
    // Within one batch: the second takes what the first has left.
    expect((await instance.import(overwriting(people('carl', 'anna')))).errors).toBeUndefined();
    const { errors } = await instance.import(
      reporting(
        organisation('Q', { humanUsers: [person('X', { userName: 'Anna' }), person('Y', { userName: 'bert' })] }),
      ),
    );
    expect(errors?.map(({ id }) => id)).toEqual(['X']);
  });

  it('reports a record whose new name another one has, and leaves it as it is', async () => {
    const { instance } = await countedInstance(sqlite);
    const users = (userName: string) => [person('A', { userName }), person('B', { userName: 'bert' })];
    await instance.import(reporting(organisation('O', { humanUsers: users('anna') })));
    const before = await instance.export();
    const { errors } = await instance.import(overwriting(organisation('O', { humanUsers: users('BERT') })));
    expect(errors).toEqual([{ type: 'human_user', id: 'A', message: 'ID=V3-DKcYh Message=Errors.User.AlreadyExists' }]);
    expect((await instance.export()).manifest.digest).toBe(before.manifest.digest);
  });

  it('reports the second of two records with one id', async () => {
    const { instance } = await countedInstance(sqlite);
    await instance.import(reporting(organisation('O', { humanUsers: [person('A')] })));
    const humanUsers = [person('A', { userName: 'one' }), person('A', { userName: 'two' })];
    const { errors, summary } = await instance.import(overwriting(organisation('O', { humanUsers })));
    expect(errors?.map(({ id }) => id)).toEqual(['A']);
    expect(summary).toMatchObject({ overwritten: { humanUsers: 1 }, failed: { humanUsers: 1 } });
  });

  it('reports a change of how login names are made, since those of the other users would stay as they are', async () => {
    const { instance } = await countedInstance(sqlite);
    const org = (userLoginMustBeDomain: boolean) =>
      organisation('O', { domainPolicy: { orgId: 'O', userLoginMustBeDomain }, humanUsers: [person('A')] });
    await instance.import(reporting(org(false)));
    const { errors, summary } = await instance.import(overwriting(org(true)));
    expect(errors?.map(({ type }) => type)).toEqual(['domain_policy']);
    expect(summary.unchanged).toEqual({ org: 1, humanUsers: 1 });
  });
});

describe('a record of another organisation or sqlite under the same id', () => {
  it.each(['skip', 'overwrite'])('is reported and left alone, also with on_conflict "%s"', async (on_conflict) => {
    const { instance } = await countedInstance(sqlite);
    await instance.import(reporting(organisation('O', { humanUsers: [person('A'), person('B')] })));
    const before = await instance.export();
    const orgs = [
      organisation('O', { machineUsers: [{ userId: 'B', user: { userName: 'robot', name: 'Robot' } }] }),
      organisation('P', { humanUsers: [person('A')] }),
    ];
    const { errors } = await instance.import({ dataOrgs: { orgs }, on_conflict });
    expect(errors?.map(({ type, id }) => [type, id])).toEqual([
      ['machine_user', 'B'],
      ['human_user', 'A'],
    ]);
    expect((await instance.export({ org_ids: ['O'] })).orgs).toEqual(before.orgs);
  });
});
