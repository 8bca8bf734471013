import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exportLosses, listOrganisations } from '../../../cli/zitadel/export/exportContent.ts';
import { exportOne } from '../../../cli/zitadel/export/exportOrganisation.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { connectTo, exportFromZitadel } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

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
});
