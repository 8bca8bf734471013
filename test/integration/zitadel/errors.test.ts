import { expect, it } from 'vitest';
import { because } from '../../../shared/errors/recordIssues.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { foundError, importIntoStandIn } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { startZitadel } from '../../support/zitadel/standIn.ts';

const shop = (name: string) => ({ projectId: 'shop', project: { name } });
const unnamed = { userId: 'unnamed', user: { userName: '', profile: { firstName: 'F', lastName: 'L' } } };

it('an import into ZITADEL reports each error of a record with its reason, in a dry run too', async () => {
  const zitadel = await startZitadel({ lagMs: 0 });
  const [ada] = people(1);
  await importIntoStandIn(zitadel, [organisation('1', { humanUsers: [ada], projects: [shop('Shop')] })]);
  const renamed = { ...ada, user: { ...ada?.user, userName: 'renamed' } };
  const userGrants = [{ userId: 'unnamed', projectId: 'shop', roleKeys: [] }];
  const content = [organisation('1', { humanUsers: [renamed, unnamed], projects: [shop('Other')], userGrants })];
  for (const dryRun of [true, false]) {
    const { errors } = await importIntoStandIn(zitadel, content, { dryRun });
    expect(errors).toEqual([
      foundError('human_user', ada?.userId, because('content_kept', { fields: 'user.userName' })),
      {
        type: 'human_user',
        id: 'unnamed',
        reason: 'value_invalid',
        message: expect.stringMatching(/^invalid DataHumanUser\.User: /),
        params: {
          field: 'orgs[0].humanUsers[1].user.userName',
          problem: expect.stringMatching(/^missing or empty/),
          others: expect.any(String),
        },
      },
      foundError('project', 'shop', because('content_kept', { fields: 'project.name' })),
      foundError('user_grant', '1_shop_unnamed', because('dependency_not_imported', { target: 'person unnamed' })),
    ]);
  }
});

it('an import into ZITADEL reports the error of a TOTP seed next to that of its person', async () => {
  const zitadel = await startZitadel({ lagMs: 0, drops: ({ section }) => section === 'humanUsers' });
  const [ada] = people(1);
  const { errors, summary } = await importIntoStandIn(zitadel, [organisation('1', { humanUsers: [ada] })], {
    polls: { attempts: () => 1, initialDelayMs: 1, maxDelayMs: 1 },
  });
  expect(summary).toMatchObject({ created: { org: 1 }, unconfirmed: { humanUsers: 1 } });
  expect(errors).toMatchObject([
    { type: 'human_user', id: ada?.userId, reason: 'creation_unconfirmed' },
    {
      type: 'human_user_otp',
      id: ada?.userId,
      reason: 'reference_missing',
      message: expect.stringContaining('Errors.User.NotFound'),
    },
  ]);
});
