import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { listZitadelOrganisations } from '../../../cli/zitadel/export/exportContent.ts';
import { exportOne } from '../../../cli/zitadel/export/exportOrganisation.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { report } from '../../support/fixtures/reports.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';
import { startFakeInstance } from '../../support/places/fakeInstance.ts';
import { connectTo, exportFromZitadel, importIntoStandIn } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';
import { replies } from '../../support/zitadel/replies.ts';

const MEGABYTE = 1_000_000;
const scope = { caller: async () => 'owner', stayingUsers: async () => new Set<string>(), onLeftOut: () => undefined };
const sameNames = z.object({ orgs: z.array(z.looseObject({ orgId: z.string() })) });

describe('an export from a ZITADEL', () => {
  it('lists more organisations than a page holds', async () => {
    const { zitadel } = await filledZitadel(Array.from({ length: 250 }, (_, index) => organisation(`${index}`)));
    expect((await listZitadelOrganisations(connectTo(zitadel))).size).toBe(251);
  });

  it('has the grants and members between organisations, which the export of one of them lacks', async () => {
    const shop = { projectId: '5', project: { name: 'Shop' } };
    const { zitadel } = await filledZitadel([
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
    const [owner, granted] = (await exportFromZitadel(zitadel, ['1', '2'])).orgs;
    expect(owner).toMatchObject({
      projectGrants: [{ grantId: '7', projectGrant: { projectId: '5', grantedOrgId: '2', roleKeys: ['buyer'] } }],
      orgMembers: [{ userId: people(1, 10)[0]?.userId, roles: ['ORG_OWNER'] }],
      projectMembers: [{ projectId: '5', userId: people(1, 10)[0]?.userId, roles: ['PROJECT_OWNER'] }],
    });
    expect(granted).toMatchObject({
      userGrants: [{ userId: people(1, 10)[0]?.userId, projectId: '5', projectGrantId: '7', roleKeys: ['buyer'] }],
    });
  });

  it.each([true, false])('has the domain policy of an instance with suffixes: %s', async (loginNamesByDomain) => {
    const given = sameNames.parse(JSON.parse((await report('same-names-across-orgs.json')).toString()));
    // Without suffixes, each name is in one organisation. An import into ZITADEL reports verified domains as errors.
    const orgs = given.orgs.slice(0, loginNamesByDomain ? 3 : 1).map((org) => ({ ...org, domains: [] }));
    const own = { orgId: 'own', domainPolicy: { orgId: 'own', validateOrgDomains: true } };
    const { zitadel } = await filledZitadel([...orgs, organisation('own', own)], { loginNamesByDomain });
    const ids = orgs.map(({ orgId }) => orgId);
    const exported = await exportFromZitadel(zitadel, [...ids, 'own']);
    const policies = exported.orgs.map(({ domainPolicy }) => domainPolicy);
    const ofInstance = (orgId: string) =>
      loginNamesByDomain ? expect.objectContaining({ orgId, userLoginMustBeDomain: true }) : undefined;
    expect(policies).toEqual([...ids.map(ofInstance), expect.objectContaining({ validateOrgDomains: true })]);
    const { instance } = await countedInstance();
    const { summary } = await instance.import({ data_orgs: exported });
    expect(summary.created.humanUsers).toBe(loginNamesByDomain ? 6 : 2);
  });

  it('is an export file also without organisations', async () => {
    const { zitadel } = await filledZitadel([]);
    expect((await exportFromZitadel(zitadel, ['1'])).orgs).toEqual([]);
  });

  it('ends at its limit or that of a gateway, and recommends what helps', async () => {
    const { zitadel } = await filledZitadel([organisation('1')], { exportMs: 5_000 });
    const secrets = { withPasswords: true, withOtp: true };
    await expect(exportOne(connectTo(zitadel), '1', scope, secrets, 100)).rejects.toThrow(
      'the export of organisation 1 takes too long: more than 0.1 s: allow more time with --timeout, let gateways',
    );
    const cut = await startFakeInstance((response) => response.writeHead(504).end());
    await expect(exportOne(connectTo(cut), '1', scope, secrets)).rejects.toThrow(
      'the export of organisation 1 takes too long: allow more time with --timeout, let gateways wait longer, or',
    );
  });

  it('may take as long as the call, also for the records with which an import compares its file', async () => {
    const acme = organisation('1', { humanUsers: people(1) });
    const { zitadel } = await filledZitadel([acme]);
    const limits = () => zitadel.requests.flatMap(({ path, timeout }) => (path.endsWith('/export') ? [timeout] : []));
    await exportFromZitadel(zitadel, ['1']);
    await exportFromZitadel(zitadel, ['1'], 600_000);
    await importIntoStandIn(zitadel, [acme], { timeoutMs: 700_000 });
    expect(limits()).toEqual(['60000ms', '600000ms', '700000ms']);
  });

  it.each([
    ['the list of organisations', 'POST /admin/v1/orgs/_search with 200: the response has more than 64 MB', 64],
    [
      'an export over REST',
      'to export organisation 1 with 200: the response has more than 64 MB; exclude it with --exc',
      64,
    ],
    [
      'one over gRPC-Web',
      'to export organisation 1 with 8: the response has more than 128 MB; exclude it with --excl',
      0,
    ],
  ])('does not read a response without end: %s', async (subject, message, megabytes) => {
    let sent = 0;
    function* endless(start: Uint8Array) {
      yield start;
      for (const part = Buffer.alloc(MEGABYTE, ' '); ; sent += MEGABYTE) yield part;
    }
    const { url } = await startFakeInstance((response) => {
      const isRest = response.req.url?.startsWith('/admin/') === true;
      response.setHeader('content-type', isRest ? 'application/json' : 'application/grpc-web+proto');
      if (isRest && subject === 'one over gRPC-Web') {
        const { status, content } = replies.tooLarge(5 * MEGABYTE, 4 * MEGABYTE);
        response.writeHead(status).end(content);
        return;
      }
      // The start of a message of 4 GB.
      const start = Buffer.from(isRest ? '{' : [0, 0xff, 0xff, 0xff, 0xff]);
      pipeline(Readable.from(endless(start)), response).catch(() => undefined);
    });
    const lists = subject === 'the list of organisations';
    await expect(exportFromZitadel({ url }, lists ? [] : ['1'])).rejects.toThrow(message);
    // What is in the buffers between the two was not read.
    expect(sent).toBeLessThan((megabytes + 32) * MEGABYTE);
  });
});

/** Answers lists of organisations and exports in turn, the last ones for good; all other lists are empty. */
async function answering(lists: readonly unknown[], exports: readonly unknown[]): Promise<{ readonly url: string }> {
  const next = (answers: unknown[]) => (answers.length > 1 ? answers.shift() : answers[0]);
  const remaining = { lists: [...lists], exports: [...exports] };
  return startFakeInstance((response) => {
    const answers: Readonly<Record<string, () => unknown>> = {
      '/admin/v1/export': () => next(remaining.exports),
      '/admin/v1/orgs/_search': () => next(remaining.lists),
    };
    const answer = answers[response.req.url ?? '']?.() ?? { details: {} };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
}

const page = { status: 'ok' };
const listed = { details: { totalResult: '1' }, result: [{ id: '1' }] };

describe('an answer that is none of a ZITADEL', () => {
  it.each([
    ['without organisations', {}],
    ["of a gateway's page", page],
    ['with another organisation', { orgs: [{ orgId: '2', org: { name: 'Two' } }] }],
  ])('is no export of an organisation that the ZITADEL lists: %s', async (_case, exported) => {
    const zitadel = await answering([listed], [exported]);
    const message = `${zitadel.url} fails POST /admin/v1/export with 200: the response lacks organisation 1: check that no gateway answers in place of the ZITADEL`;
    for (const orgIds of [[], ['1']]) await expect(exportFromZitadel(zitadel, orgIds)).rejects.toThrow(message);
  });

  it('is no empty list of organisations', async () => {
    const zitadel = await answering([page], [{}]);
    await expect(exportFromZitadel(zitadel)).rejects.toThrow(
      /fails POST \/admin\/v1\/orgs\/_search with 200: .*details/s,
    );
  });
});

describe('an export without an organisation', () => {
  it('is complete if the organisation was deleted after it was listed', async () => {
    const zitadel = await answering([listed, { details: {} }], [{}]);
    expect((await exportFromZitadel(zitadel)).orgs).toEqual([]);
  });

  it('is requested again if the organisation appeared after the export', async () => {
    const { zitadel } = await filledZitadel([organisation('1')]);
    let isFirst = true;
    const late = createServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      const body = await buffer(request);
      if (url === '/admin/v1/export' && isFirst) {
        isFirst = false;
        response.end('{}');
        return;
      }
      const passed = ['authorization', 'content-type', 'x-zitadel-orgid'];
      const others = passed.flatMap((name): [string, string][] =>
        name in headers ? [[name, `${headers[name]}`]] : [],
      );
      const answer = await fetch(`${zitadel.url}${url}`, {
        method,
        headers: others,
        ...(method === 'GET' ? {} : { body }),
      });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
    await once(late.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void late.close());
    const { port } = z.object({ port: z.number() }).parse(late.address());
    expect((await exportFromZitadel({ url: `http://127.0.0.1:${port}` }, ['1'])).orgs).toMatchObject([{ orgId: '1' }]);
    expect(isFirst).toBe(false);
  });
});
