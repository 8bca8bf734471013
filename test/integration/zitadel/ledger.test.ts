import { describe, expect, it } from 'vitest';
import type { DoneRecords, ImportMeter } from '../../../cli/exports/placeInterfaces.ts';
import { because } from '../../../shared/errors/recordIssues.ts';
import { organisation, person, zitadelRequest } from '../../support/fixtures/organisations.ts';
import { foundError, importIntoStandIn } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { importsOf, startZitadel } from '../../support/zitadel/standIn.ts';

const text = (language: string, title?: string) => ({ language, title });
const provider = (idpId: string) => ({
  idpId,
  idp: { name: idpId, clientId: 'c', clientSecret: 's', issuer: 'https://idp.example' },
});

describe('an import into a ZITADEL', () => {
  it('reads a file of 2,000 people with records of every kind once, although some ids are taken', async () => {
    const zitadel = await startZitadel({ lagMs: 0 });
    await importIntoStandIn(zitadel, [organisation('other', { humanUsers: people(5) })]);
    const content = [...zitadelRequest('import-request'), organisation('acme', { humanUsers: people(2_000) })];
    let passes = 0;
    const { summary } = await importIntoStandIn(zitadel, content, { onOpened: () => passes++ });
    expect(summary).toMatchObject({ created: { org: 3, humanUsers: 2_005 }, failed: { humanUsers: 5 } });
    expect(passes).toBe(1);
  });

  it('reads a v1 file twice, whose lists of the login policy follow the policy', async () => {
    const zitadel = await startZitadel();
    const content = [
      organisation('acme', { loginPolicy: { allowUsernamePassword: true }, secondFactors: [{ type: 1 }] }),
    ];
    let passes = 0;
    const { errors, summary } = await importIntoStandIn(zitadel, content, { onOpened: () => passes++ });
    expect({ errors, ...summary }).toMatchObject({ errors: undefined, created: { org: 1, loginPolicy: 1 } });
    expect(zitadel.contents.find('acme', 'loginPolicy', 'acme')).toMatchObject({
      secondFactors: ['SECOND_FACTOR_TYPE_OTP'],
    });
    expect(passes).toBe(2);
  });

  it('names the one person whom the rules of requests reject, and imports all others', async () => {
    const [, refused] = people(2);
    const zitadel = await startZitadel({ lagMs: 0, rejectsPerson: (userId) => userId === refused?.userId });
    const content = [organisation('acme', { humanUsers: people(100) })];
    const { errors, summary } = await importIntoStandIn(zitadel, content);
    expect(errors).toMatchObject([
      {
        type: 'human_user',
        id: refused?.userId,
        reason: 'value_invalid',
        message: expect.stringContaining('failed validation'),
        params: { problem: expect.stringContaining('failed validation') },
      },
    ]);
    expect(summary).toMatchObject({ created: { org: 1, humanUsers: 99 }, failed: { humanUsers: 1 } });
  });

  it('counts the links that a person holds by what became of the person', async () => {
    const zitadel = await startZitadel({ lagMs: 0, rejectsPerson: (userId) => userId === 'ben' });
    const linked = (userId: string) =>
      person(userId, { idps: [{ configId: '51', externalUserId: userId, displayName: userId }] });
    const content = [organisation('acme', { humanUsers: [linked('ada'), linked('ben')], oidcIdps: [provider('51')] })];
    const { errors, summary } = await importIntoStandIn(zitadel, content);
    expect(errors).toMatchObject([{ type: 'human_user', id: 'ben' }]);
    expect(summary).toMatchObject({
      created: { org: 1, oidcIdps: 1, humanUsers: 1, userLinks: 1 },
      failed: { humanUsers: 1, userLinks: 1 },
    });
    const again = await importIntoStandIn(zitadel, content);
    expect(again.summary).toMatchObject({
      created: {},
      unchanged: { org: 1, oidcIdps: 1, humanUsers: 1, userLinks: 1 },
      failed: { humanUsers: 1, userLinks: 1 },
    });
  });

  it('carries only the first of two people with one id, with its links, in a dry run too', async () => {
    const zitadel = await startZitadel({ lagMs: 0 });
    const linked = (userName: string, configId: string) =>
      person('ada', { userName, idps: [{ configId, externalUserId: userName, displayName: userName }] });
    const humanUsers = [linked('ada', '51'), linked('other', '52')];
    const content = [organisation('acme', { humanUsers, oidcIdps: [provider('51'), provider('52')] })];
    const created = { org: 1, oidcIdps: 2, humanUsers: 1, userLinks: 1 };
    const tried = await importIntoStandIn(zitadel, content, { dryRun: true });
    expect(tried.summary).toMatchObject({ created, failed: {}, notCarried: { humanUsers: 1, userLinks: 1 } });
    const { errors, summary } = await importIntoStandIn(zitadel, content);
    expect(summary).toMatchObject({ created, failed: { humanUsers: 1 }, notCarried: { userLinks: 1 } });
    expect(errors).toEqual([foundError('human_user', 'ada', because('record_repeated', {}))]);
    expect([...(zitadel.contents.organisations.get('acme')?.sections.get('userLinks')?.keys() ?? [])]).toEqual([
      'ada_51',
    ]);
  });

  it('names the second of two people with one external identity, in a dry run too', async () => {
    const zitadel = await startZitadel({ lagMs: 0 });
    const link = (userId: string, providedUserId: string) => ({ userId, idpId: '51', providedUserId });
    const humanUsers = [person('ada'), person('ben')];
    const userLinks = [link('ada', 'same'), link('ben', 'same'), link('ben', 'own')];
    const content = [organisation('acme', { humanUsers, oidcIdps: [provider('51')], userLinks })];
    for (const dryRun of [true, false, false]) {
      const { errors, summary } = await importIntoStandIn(zitadel, content, { dryRun });
      expect(errors).toEqual([foundError('user_link', 'ben_51', because('identity_taken', { holder: 'ada_51' }))]);
      expect(summary).toMatchObject({ failed: { userLinks: 1 }, notCarried: {} });
    }
    expect(zitadel.contents.find('acme', 'userLinks', 'ben_51')?.providedUserId).toBe('own');
  });

  it('foretells in a dry run that it does not carry texts without content', async () => {
    const zitadel = await startZitadel();
    const content = [organisation('acme', { initMessages: [text('en', 'Welcome'), text('de')] })];
    for (const dryRun of [true, false])
      expect((await importIntoStandIn(zitadel, content, { dryRun })).summary).toMatchObject({
        created: { org: 1, initMessages: 1 },
        notCarried: { initMessages: 1 },
      });
  });

  it('begins with requests that are soon answered, and doubles them up to the limit', async () => {
    const zitadel = await startZitadel();
    await importIntoStandIn(zitadel, [organisation('acme', { humanUsers: people(9_000) })]);
    const sizes = importsOf(zitadel).flatMap(({ records = 0 }) => (records > 0 ? [records] : []));
    expect(sizes).toEqual([500, 1_000, 2_000, 4_000, 1_500]);
  });

  it('reports after each request how many of the records that it carries are settled', async () => {
    const zitadel = await startZitadel({ lagMs: 0 });
    await importIntoStandIn(zitadel, [organisation('acme', { humanUsers: people(20) })]);
    let settled = (): DoneRecords | undefined => undefined;
    let first: DoneRecords | undefined;
    const content = [organisation('acme', { humanUsers: people(30), verifyPhoneMessages: [text('en', 'Verify')] })];
    await importIntoStandIn(zitadel, content, {
      onPhase: (phase, done) => {
        if (phase !== 'importing' || done === undefined) return;
        settled = done;
        first = done();
      },
    });
    expect(first).toEqual({ records: 21, unchanged: 21, total: 31 });
    expect(settled()).toEqual({ records: 31, unchanged: 21, total: 31 });
  });
});

it('the progress of a comparison counts the people whose TOTP seed is looked up', async () => {
  const compared: { readonly records: number; readonly total: number }[] = [];
  let read = () => ({ records: 0, total: 0 });
  const zitadel = await startZitadel({
    lagMs: 0,
    losesContext: (path) => {
      if (path.endsWith('ListEvents')) compared.push(read());
      return false;
    },
  });
  const content = [organisation('acme', { humanUsers: people(200) })];
  await importIntoStandIn(zitadel, content);
  const onPhase: ImportMeter['onPhase'] = (phase, done = read) => {
    if (phase === 'comparing') read = done;
  };
  await importIntoStandIn(zitadel, content, { onPhase });
  // What was read of the target counts as done.
  const remaining = ({ records, total }: ReturnType<typeof read>) => total - records;
  expect(compared.filter(({ total }) => total > 0).map(remaining)).toEqual([20]);
  expect(read().records).toBeGreaterThan(201);
  expect(remaining(read())).toBe(0);
});
