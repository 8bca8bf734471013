import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { exportLosses, listOrganisations } from '../../../cli/zitadel/export/exportContent.ts';
import { exportOne } from '../../../cli/zitadel/export/exportOrganisation.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { startFakeInstance } from '../../support/places/fakeInstance.ts';
import { connectTo, exportFromZitadel } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';
import { replies } from '../../support/zitadel/replies.ts';

const MEGABYTE = 1_000_000;

describe('an export from a ZITADEL', () => {
  it('leaves out what the document on migrations says', () => {
    const document = readFileSync('docs/migrating.md', 'utf8').toLowerCase();
    for (const loss of exportLosses) expect(document).toContain(`- ${loss}.`.toLowerCase());
  });

  it('lists more organisations than a page holds', async () => {
    const { zitadel } = await filledZitadel(Array.from({ length: 250 }, (_, index) => organisation(`${index}`)));
    expect(new Set(await listOrganisations(connectTo(zitadel))).size).toBe(251);
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

  it('is an export file also without organisations', async () => {
    const { zitadel } = await filledZitadel([]);
    expect((await exportFromZitadel(zitadel, ['1'])).orgs).toEqual([]);
  });

  it('ends where gateways would cut it off, and says how to export faster', async () => {
    const { zitadel } = await filledZitadel([organisation('1')], { exportMs: 5_000 });
    const secrets = { withPasswords: true, withOtp: true };
    await expect(exportOne(connectTo(zitadel), '1', secrets, 100)).rejects.toThrow(
      'the export of organisation 1 takes more than 0.1 s, after which gateways cut it off: export it without password hashes',
    );
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
