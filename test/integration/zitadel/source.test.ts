import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { create, type DescMethod, toBinary } from '@bufbuild/protobuf';
import { AdminService, DataOrgSchema, ExportDataResponseSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { AuthService } from '@zitadel/proto/zitadel/auth_pb.js';
import { ImportHumanUserRequestSchema, ManagementService } from '@zitadel/proto/zitadel/management_pb.js';
import { DataHumanUserSchema } from '@zitadel/proto/zitadel/v1_pb.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listZitadelOrganisations } from '../../../cli/zitadel/export/exportContent.ts';
import { exportOne } from '../../../cli/zitadel/export/exportOrganisation.ts';
import type { RecordWarning } from '../../../shared/errors/warnings.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { report } from '../../support/fixtures/reports.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';
import { startFakeInstance, startServer } from '../../support/places/fakeInstance.ts';
import { connectTo, exportFromZitadel, importIntoStandIn } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';
import { grpcWeb, grpcWebMessage, type Reply, replies } from '../../support/zitadel/replies.ts';

const MEGABYTE = 1_000_000;
const scope = {
  caller: async () => 'owner',
  stayingOrganisations: new Set<string>(),
  stayingUsers: async () => new Set<string>(),
  onIncomplete: () => undefined,
  onUsersLeftOut: () => undefined,
  onLeftOut: () => undefined,
};
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

  it.each([-120_000, 120_000])('has the time of ZITADEL, whose clock differs by %i ms', async (aheadMs) => {
    const { zitadel } = await filledZitadel([organisation('1')], { aheadMs });
    const from = Math.floor((Date.now() + aheadMs) / 1_000) * 1_000;
    const { manifest } = await exportFromZitadel(zitadel, ['1']);
    const readTime = Date.parse(manifest.readTime);
    expect(readTime).toBeGreaterThanOrEqual(from);
    expect(readTime).toBeLessThanOrEqual(Date.now() + aheadMs);
  });

  it('is an export file also without organisations', async () => {
    const { zitadel } = await filledZitadel([]);
    expect((await exportFromZitadel(zitadel, ['1'])).orgs).toEqual([]);
  });

  it('ends at its limit or that of a gateway, and recommends what helps', async () => {
    const { zitadel } = await filledZitadel([organisation('1')], { exportMs: 5_000 });
    const secrets = { withPasswords: true, withOtp: true };
    await expect(exportOne(connectTo(zitadel), '1', scope, secrets, 100)).rejects.toThrow(
      'the export of organisation 1 takes too long: more than 0.1 s: allow more time with --timeout, raise the timeouts',
    );
    const cut = await startFakeInstance((response) => response.writeHead(504).end());
    await expect(exportOne(connectTo(cut), '1', scope, secrets)).rejects.toThrow(
      'the export of organisation 1 takes too long: allow more time with --timeout, raise the timeouts of gateways, or',
    );
  });

  it('may take as long as the call, also for the records with which an import compares its file', async () => {
    const acme = organisation('1', { humanUsers: people(1) });
    const { zitadel } = await filledZitadel([acme]);
    const limits = () =>
      zitadel.requests.flatMap(({ path, timeout }) => (path.endsWith('/ExportData') ? [timeout] : []));
    await exportFromZitadel(zitadel, ['1']);
    await exportFromZitadel(zitadel, ['1'], 600_000);
    await importIntoStandIn(zitadel, [acme], { timeoutMs: 700_000 });
    expect(limits()).toEqual(['60000ms', '600000ms', '700000ms']);
  });

  it.each([
    ['the list of organisations', [], /returned ResourceExhausted to POST \S+ListOrgs: .* 64000000/],
    [
      'an export',
      ['1'],
      /returned ResourceExhausted to the export of organisation 1: the response has more than 128 MB; exclude/,
    ],
  ])('does not read a response without end: %s', async (_subject, orgIds, message) => {
    let sent = 0;
    function* endless(start: Uint8Array) {
      yield start;
      for (const part = Buffer.alloc(MEGABYTE, ' '); ; sent += MEGABYTE) yield part;
    }
    const { url } = await startFakeInstance((response) => {
      if (response.req.method === 'GET') return void response.end('{}');
      response.setHeader('content-type', grpcWebMessage(new Uint8Array()).type);
      // The start of a message of 4 GB.
      const start = Buffer.from([0, 0xff, 0xff, 0xff, 0xff]);
      pipeline(Readable.from(endless(start)), response).catch(() => undefined);
    });
    await expect(exportFromZitadel({ url }, orgIds)).rejects.toThrow(message);
    // The rest is in the buffers between server and client.
    expect(sent).toBeLessThan(32 * MEGABYTE);
  });
});

const { exportData, listOrgs, getDomainPolicy, getMyInstance } = AdminService.method;
const { getMyUser, listMyMemberships } = AuthService.method;
const { getMyOrg } = ManagementService.method;

/** Returns the response of a method. */
const answerOf = ({ output }: DescMethod, body: object) => grpcWeb(output, replies.found(body), '4.0');

/** Returns the lists of organisations and the exports in turn, and repeats the last ones; all other lists are empty. */
async function answering(lists: readonly Reply[], exports: readonly Reply[]): Promise<{ readonly url: string }> {
  const next = (answers: Reply[]) => (answers.length > 1 ? answers.shift() : answers[0]);
  const remaining = { lists: [...lists], exports: [...exports] };
  return startFakeInstance((response) => {
    const answers: Readonly<Record<string, () => Reply | undefined>> = {
      [exportData.name]: () => next(remaining.exports),
      [listOrgs.name]: () => next(remaining.lists),
      [getMyOrg.name]: () => answerOf(getMyOrg, { org: { id: '1' } }),
      [getMyUser.name]: () => answerOf(getMyUser, { user: { id: 'owner', details: { resourceOwner: '0' } } }),
      [listMyMemberships.name]: () => answerOf(listMyMemberships, {}),
      [getMyInstance.name]: () => answerOf(getMyInstance, { instance: { id: 'north', name: 'North' } }),
      [getDomainPolicy.name]: () => answerOf(getDomainPolicy, { policy: {} }),
    };
    const reply = answers[response.req.url?.split('/').at(-1) ?? '']?.() ?? grpcWebMessage(new Uint8Array());
    response.writeHead(reply.status, { 'content-type': reply.type }).end(reply.content);
  });
}

const page = replies.found({ status: 'ok' });
const listed = answerOf(listOrgs, { details: { totalResult: '1' }, result: [{ id: '1' }] });
const unlisted = answerOf(listOrgs, { details: {} });
const exported = (...ids: readonly string[]) =>
  answerOf(exportData, { orgs: ids.map((orgId) => ({ orgId, org: { name: orgId } })) });

describe('an answer that is none of a ZITADEL', () => {
  it.each([
    [
      'without organisations',
      exported(),
      /returned OK to POST \S+: the response lacks organisation 1, although ZITADEL lists it/,
    ],
    [
      "of a gateway's page",
      page,
      /returned Unknown to .+: HTTP 200 with the content type application\/json instead of/,
    ],
    [
      'with another organisation',
      exported('2'),
      /returned OK to POST \S+: the response lacks organisation 1, although ZITADEL lists it/,
    ],
  ])('is no export of an organisation that the ZITADEL lists: %s', async (_case, answer, message) => {
    const zitadel = await answering([listed], [answer]);
    for (const orgIds of [[], ['1']]) await expect(exportFromZitadel(zitadel, orgIds)).rejects.toThrow(message);
  });

  it.each([
    ['a page', page],
    ['an unknown path', replies.notFound],
    ['an unknown media type', replies.text(415, 'not supported')],
  ])('is no empty list of organisations, but a gateway that does not pass gRPC-Web on: %s', async (_case, answer) => {
    const zitadel = await answering([answer], [exported()]);
    await expect(exportFromZitadel(zitadel)).rejects.toThrow(
      /returned Unknown to POST \S+ListOrgs: HTTP \d+ .*: configure gateways to forward gRPC-Web/,
    );
  });
});

describe('an export of a newer release', () => {
  it('reports the fields that this version does not know, once each', async () => {
    const user = create(ImportHumanUserRequestSchema, { userName: 'ada' });
    user.$unknown = [{ no: 11, wireType: 2, data: new Uint8Array([1, 65]) }];
    const humanUsers = ['1', '2'].map((userId) => create(DataHumanUserSchema, { userId, user }));
    const org = create(DataOrgSchema, { orgId: '1', org: { name: 'One' }, humanUsers });
    const response = grpcWebMessage(
      toBinary(ExportDataResponseSchema, create(ExportDataResponseSchema, { orgs: [org] })),
    );
    const zitadel = await answering([listed], [response]);
    const leftOut: RecordWarning[] = [];
    const onLeftOut = (notice: RecordWarning) => void leftOut.push(notice);
    const secrets = { withPasswords: true, withOtp: true };
    expect(await exportOne(connectTo(zitadel), '1', { ...scope, onLeftOut }, secrets)).toMatchObject({
      humanUsers: [{ user: { userName: 'ada' } }, {}],
    });
    expect(leftOut.map(({ message }) => message)).toEqual([
      'this version does not know these fields of organisation 1, so they do not move: zitadel.management.v1.ImportHumanUserRequest.11',
    ]);
  });
});

describe('an export without an organisation', () => {
  it('is complete if the organisation was deleted after it was listed', async () => {
    const zitadel = await answering([listed, unlisted], [exported()]);
    expect((await exportFromZitadel(zitadel)).orgs).toEqual([]);
  });

  it('is requested again if the organisation appeared after the export', async () => {
    const { zitadel } = await filledZitadel([organisation('1')]);
    let isFirst = true;
    const late = await startServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      const body = await buffer(request);
      if (url.endsWith(exportData.name) && isFirst) {
        isFirst = false;
        const { type, content } = exported();
        response.setHeader('content-type', type).end(content);
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
    expect((await exportFromZitadel({ url: late }, ['1'])).orgs).toMatchObject([{ orgId: '1' }]);
    expect(isFirst).toBe(false);
  });
});
