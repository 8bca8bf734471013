import { describe, expect, it } from 'vitest';
import { importOrganisations } from '../../../functions/import/operation.ts';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import { watchedStore } from '../../support/stores/watchedStore.ts';

const provider = (idpId: string) => ({
  idpId,
  idp: { name: idpId, jwtEndpoint: 'e', issuer: 'i', keysEndpoint: 'k', headerName: 'h' },
});
const inner = (configId: string, externalUserId: string, displayName?: string) => ({
  ...{ configId, externalUserId },
  ...(displayName === undefined ? {} : { displayName }),
});
const linked = (userId: string, ...idps: object[]) => person(userId, { idps });
const exportedLink = (userId: string, providedUserId: string, fields: object = {}) => ({
  ...{ userId, idpId: 'idp', idpName: 'idp', providedUserId, idpType: 2 },
  ...fields,
});
const org = (...humanUsers: object[]) => organisation('O', { jwtIdps: [provider('idp')], humanUsers });
const file = (...orgs: object[]) => ({ data_orgs: { orgs } });

describe('links inside a person', () => {
  const instanceWith = async (...orgs: object[]) => {
    const instance = await testInstance(await openTestStore(sqlite));
    return { instance, report: await instance.import(file(...orgs)) };
  };

  it('to an unknown provider are kept with a warning, and do not cost the person', async () => {
    const { instance, report } = await instanceWith(org(linked('U', inner('idp', 'a'), inner('unknown', 'b'))));
    expect(report.errors).toBeUndefined();
    expect(report.summary).toMatchObject({ created: { humanUsers: 1, userLinks: 2 }, failed: {}, notCarried: {} });
    expect(report.summary.warnings).toContainEqual({
      type: 'user_link',
      id: 'U_unknown',
      reason: 'linked_provider_missing',
      message: 'the link works once the target has its identity provider: unknown',
    });
    const links = [expect.objectContaining({ idpId: 'unknown', providedUserId: 'b' })];
    expect((await instance.export()).orgs).toMatchObject([{ userLinks: expect.arrayContaining(links) }]);
  });

  it('are not carried without their person', async () => {
    const { instance, report } = await instanceWith(
      org(person('U', { userName: ' ', idps: [inner('idp', 'a')] }), linked('V', inner('idp', 'c'))),
    );
    expect(report.errors).toMatchObject([{ type: 'human_user', id: 'U' }]);
    expect(report.summary).toMatchObject({
      created: { humanUsers: 1, userLinks: 1 },
      failed: { humanUsers: 1 },
      notCarried: { userLinks: 1 },
    });
    expect((await instance.export()).orgs).toMatchObject([{ userLinks: [exportedLink('V', 'c')] }]);
  });

  it('of a person whom the file repeats in another spelling are carried, and a dry run says so', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const profile = { firstName: 'F', lastName: 'L' };
    const first = person('U', { profile, idps: [inner('idp', 'a')] });
    // An import fills in this display name.
    const second = person('U', { profile: { ...profile, displayName: 'F L' }, idps: [inner('other', 'b')] });
    const { jwtIdps } = organisation('O', { jwtIdps: [provider('idp'), provider('other')] });
    const body = file(organisation('O', { jwtIdps, humanUsers: [first, second] }));
    const { summary } = await instance.import({ ...body, dry_run: true });
    const imported = await instance.import(body);
    expect(imported.summary).toMatchObject({ created: { humanUsers: 1, userLinks: 2 }, notCarried: {} });
    expect(summary).toEqual({ ...imported.summary, dryRun: true });
  });

  it.each([0.6, 0.9])('are completed by a second call if an import ended after %d of its writes', async (part) => {
    const people = Array.from({ length: 600 }, (_, index) => linked(`U${index}`, inner('idp', `${index}`)));
    const request = file(org(...people));
    const store = await openTestStore(sqlite);
    const controller = new AbortController();
    let left = part * 4 * people.length;
    const watched = watchedStore(store, (writes) => {
      left -= writes.length;
      if (left < 0) controller.abort(deadlineExceeded());
    });
    const source = { open: () => inPieces(Buffer.from(JSON.stringify(request.data_orgs))) };
    const options = { withKeys: false };
    const stamp = new Date().toISOString().replace('Z', '123Z');
    const run = importOrganisations(watched, source, options, stamp, controller.signal);
    await expect(run).rejects.toThrow(IdentityError);
    const instance = await testInstance(store);
    const { errors, summary } = await instance.import(request);
    expect(errors).toBeUndefined();
    expect(summary).toMatchObject({ failed: {}, notCarried: {} });
    const { created, unchanged } = summary;
    for (const name of ['humanUsers', 'userLinks'])
      expect((created[name] ?? 0) + (unchanged[name] ?? 0), name).toBe(people.length);
    expect((await instance.export()).manifest.counts).toMatchObject({ userLinks: people.length });
  });

  it('are omitted with their organisation, and found if its id follows them', async () => {
    const { orgId, ...fields } = org(linked('U', inner('idp', 'a')));
    const out = organisation('out', { humanUsers: [linked('V', inner('idp', 'b'))] });
    const instance = await testInstance(await openTestStore(sqlite));
    const request = { ...file({ ...fields, orgId }, out), excluded_org_ids: ['out'] };
    const { summary } = await instance.import(request);
    expect(summary).toMatchObject({ created: { userLinks: 1 }, notCarried: { org: 1, humanUsers: 1 } });
  });
});
