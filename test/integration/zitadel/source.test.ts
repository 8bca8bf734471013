import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ZitadelConnection } from '../../../cli/zitadel/connection.ts';
import {
  type ExportedOrganisation,
  exportFileText,
  exportLosses,
  exportOrganisations,
  listOrganisations,
  type ZitadelSelection,
} from '../../../cli/zitadel/export/exportContent.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { connectTo } from '../../support/zitadel/connect.ts';
import { elements } from '../../support/zitadel/contents.ts';
import { people } from '../../support/zitadel/files.ts';
import { importAll } from '../../support/zitadel/importing.ts';
import { startZitadel, type ZitadelStandIn } from '../../support/zitadel/standIn.ts';

const everything: ZitadelSelection = { orgIds: [], excludedOrgIds: [], withPasswords: true, withOtp: true };

async function exportAll(connection: ZitadelConnection, selection: Partial<ZitadelSelection> = {}) {
  const found: ExportedOrganisation[] = [];
  for await (const exported of exportOrganisations(connection, { ...everything, ...selection })) found.push(exported);
  return found;
}

/** Fills a stand-in, as if it had been for long. */
async function filled(orgs: readonly object[], given: Parameters<typeof startZitadel>[0] = {}) {
  const zitadel = await startZitadel({ lagMs: 0, ...given });
  const run = { contents: zitadel.contents, contextOrgId: '', host: 'localhost', write: () => {} };
  const { errors } = importAll(run, elements(orgs));
  expect(errors).toEqual([]);
  return zitadel;
}

const protocolsIn = ({ requests }: ZitadelStandIn) =>
  requests.flatMap(({ path, status }) => (/export/i.test(path) ? [`${path.split('/').at(-1)} ${status}`] : []));

describe('an export from a ZITADEL', () => {
  it('leaves out what the document on migrations says', () => {
    const document = readFileSync('docs/migrating.md', 'utf8').toLowerCase();
    for (const loss of exportLosses) expect(document).toContain(`- ${loss}.`.toLowerCase());
  });

  it('exports each organisation by a call of its own', async () => {
    const zitadel = await filled([
      organisation('1', { humanUsers: people(3) }),
      organisation('2', { humanUsers: people(2, 10) }),
    ]);
    const found = await exportAll(connectTo(zitadel));
    expect(found.map(({ orgId, protocol }) => `${orgId} ${protocol}`)).toEqual([
      '400000000000000001 rest',
      '1 rest',
      '2 rest',
    ]);
    expect(elements(found[1]?.organisation?.humanUsers)).toEqual(people(3));
    expect(protocolsIn(zitadel)).toEqual(['export 200', 'export 200', 'export 200']);
  });

  it('exports over gRPC-Web where REST refuses the size', async () => {
    const zitadel = await filled([organisation('1', { humanUsers: people(500) })], { maxMessageBytes: 50_000 });
    const [found] = await exportAll(connectTo(zitadel), { orgIds: ['1'] });
    expect(found).toMatchObject({ protocol: 'grpc-web' });
    expect(elements(found?.organisation?.humanUsers)).toEqual(people(500));
    expect(protocolsIn(zitadel)).toEqual(['export 429', 'ExportData 200']);
  });

  it('selects organisations itself, because a ZITADEL dies of a matching exclusion', async () => {
    const zitadel = await filled([organisation('1'), organisation('2')]);
    const found = await exportAll(connectTo(zitadel), { excludedOrgIds: ['400000000000000001', '2'] });
    expect(found.map(({ orgId }) => orgId)).toEqual(['1']);
    expect(zitadel.deaths()).toBe(0);
    // The stand-in does die of it.
    const body = JSON.stringify({ orgIds: ['1'], excludedOrgIds: ['1'] });
    const headers = { authorization: 'Bearer owner-token', 'content-type': 'application/json' };
    await expect(fetch(`${zitadel.url}/admin/v1/export`, { method: 'POST', body, headers })).rejects.toThrow();
    expect(zitadel.deaths()).toBe(1);
  });

  it('lists more organisations than a page holds', async () => {
    const zitadel = await filled(Array.from({ length: 250 }, (_, index) => organisation(`${index}`)));
    const ids = (await listOrganisations(connectTo(zitadel))).map(({ id }) => id);
    expect(new Set(ids).size).toBe(251);
  });

  it('has the grants and members between organisations, which the export of one of them lacks', async () => {
    const shop = { projectId: '5', project: { name: 'Shop' } };
    const zitadel = await filled([
      organisation('1', {
        projects: [shop],
        projectRoles: [{ projectId: '5', roleKey: 'buyer' }],
        humanUsers: people(1),
        projectGrants: [{ grantId: '7', projectGrant: { projectId: '5', grantedOrgId: '2', roleKeys: ['buyer'] } }],
        orgMembers: [{ userId: people(1, 10)[0]?.userId, roles: ['ORG_OWNER'] }],
        projectMembers: [{ projectId: '5', userId: people(1, 10)[0]?.userId, roles: ['PROJECT_OWNER'] }],
      }),
      organisation('2', {
        humanUsers: people(1, 10),
        userGrants: [{ userId: people(1, 10)[0]?.userId, projectId: '5', projectGrantId: '7', roleKeys: ['buyer'] }],
      }),
    ]);
    const [owner, granted] = await exportAll(connectTo(zitadel), { orgIds: ['1', '2'] });
    expect(owner?.organisation).toMatchObject({
      projectGrants: [{ grantId: '7', projectGrant: { projectId: '5', grantedOrgId: '2', roleKeys: ['buyer'] } }],
      orgMembers: [{ userId: people(1, 10)[0]?.userId, roles: ['ORG_OWNER'] }],
      projectMembers: [{ projectId: '5', userId: people(1, 10)[0]?.userId, roles: ['PROJECT_OWNER'] }],
    });
    expect(granted?.organisation).toMatchObject({
      userGrants: [{ userId: people(1, 10)[0]?.userId, projectId: '5', projectGrantId: '7', roleKeys: ['buyer'] }],
    });
  });

  it('returns no content for an organisation that the ZITADEL does not have', async () => {
    const zitadel = await filled([]);
    const [found] = await exportAll(connectTo(zitadel), { orgIds: ['1'] });
    expect(found).toMatchObject({ orgId: '1', organisation: undefined });
  });

  it('writes an export file, also without organisations', async () => {
    const text = async (organisations: readonly object[]) => {
      const zitadel = await filled(organisations);
      const found = exportOrganisations(connectTo(zitadel), { ...everything, orgIds: ['1', '2'] });
      let written = '';
      for await (const part of exportFileText(found)) written += part;
      return z.object({ orgs: z.array(z.looseObject({ orgId: z.string() })) }).parse(JSON.parse(written));
    };
    expect((await text([organisation('1'), organisation('2')])).orgs.map(({ orgId }) => orgId)).toEqual(['1', '2']);
    expect((await text([])).orgs).toEqual([]);
  });

  it('ends an export that gateways would cut off, and says how to export faster', async () => {
    const zitadel = await filled([organisation('1')], { exportMs: 5_000 });
    const running = exportAll(connectTo(zitadel), { orgIds: ['1'], timeoutMs: 100 });
    await expect(running).rejects.toThrow(
      'the export of organisation 1 takes more than 0.1 s, after which gateways cut it off: export it without password hashes',
    );
  });

  it.each([
    ['a wrong token', 'wrong', 'rejects the token of --token-file (Errors.Token.Invalid (AUTH-7fs1e))'],
    ['a user without role', 'guest-token', 'use one of a service user with the role IAM_OWNER'],
  ])('fails for %s, and says what to do', async (_case, token, message) => {
    const zitadel = await filled([organisation('1')]);
    zitadel.tokens.set('guest', 'guest-token');
    await expect(exportAll(connectTo(zitadel, token))).rejects.toThrow(message);
  });

  it('fails for a ZITADEL that has gone, after its retries', async () => {
    const zitadel = await filled([organisation('1')], { deadMs: undefined });
    const connection = connectTo(zitadel);
    const body = JSON.stringify({ orgIds: ['1'], excludedOrgIds: ['1'] });
    const headers = { authorization: 'Bearer owner-token' };
    await expect(fetch(`${zitadel.url}/admin/v1/export`, { method: 'POST', body, headers })).rejects.toThrow();
    await expect(exportAll(connection, { orgIds: ['1'] })).rejects.toThrow(/cannot be reached \(ECONNREFUSED\)/);
  });
});
