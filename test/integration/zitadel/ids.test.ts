import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { DEFAULT_ORGANISATION, type ZitadelBehaviour } from '../../support/zitadel/behaviour.ts';
import { exportFromZitadel, importIntoStandIn } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';
import { importsOf, startZitadel } from '../../support/zitadel/standIn.ts';

/** Ids that ZITADEL imports, and that REST cannot have in a path or in a header. */
const oddIds = [
  ...['a/b', 'ünï', '組織|1', '..', '.', 'a//b', '?x=1', '#x', '%', '%2F', 'a%20b', 'a b', 'a:b', "it's", '~', 'a\\b'],
  ...['caf\u00e9', 'cafe\u0301', '\u{1f600}', 'à'],
];
/** Ids that no header can have. */
const unnameableIds = [' a', 'a ', ' ', 'a\nb', 'a\tb', 'a\rb', '\u007f', 'a\u0001'];

const members = (userId: string) => [{ userId, roles: ['ORG_OWNER'] }];

/** A stand-in whose default organisation, that of the caller, has a member; and the organisations of a test. */
async function zitadelWith(orgs: readonly object[], behaviour: Partial<ZitadelBehaviour> = {}) {
  const filled = await filledZitadel(orgs, behaviour);
  filled.zitadel.contents.put(DEFAULT_ORGANISATION, 'orgMembers', 'owner', { userId: 'owner', roles: ['ORG_OWNER'] });
  return filled;
}

const exported = z.object({ orgMembers: z.array(z.object({ userId: z.string(), roles: z.array(z.string()) })) });
const membersOf = (org: unknown) => exported.parse(org).orgMembers;
const REFUSED = 'cannot be called for organisation';

describe('organisations with ids that REST cannot have in a header', () => {
  it('are exported with their own members, not with those of the caller', async () => {
    const own = oddIds.map((orgId, index) => ({ orgId, person: person(`person ${index}`) }));
    const { zitadel } = await zitadelWith(
      own.map(({ orgId, person }) => organisation(orgId, { humanUsers: [person], orgMembers: members(person.userId) })),
    );
    const { orgs } = await exportFromZitadel(zitadel, oddIds);
    expect(new Map(orgs.map((org) => [org.orgId, membersOf(org)]))).toEqual(
      new Map(own.map(({ orgId, person }) => [orgId, members(person.userId)])),
    );
  });

  it('get their own texts of messages, not the organisation of the caller', async () => {
    const zitadel = await startZitadel();
    const orgs = oddIds.map((orgId) => organisation(orgId, { initMessages: [{ language: 'en', title: orgId }] }));
    const { errors } = await importIntoStandIn(zitadel, orgs);
    expect(errors).toBeUndefined();
    expect(oddIds.map((orgId) => zitadel.contents.find(orgId, 'initMessages', 'en')?.title)).toEqual(oddIds);
    expect(zitadel.contents.find(DEFAULT_ORGANISATION, 'initMessages', 'en')).toBeUndefined();
  });
});

describe('an organisation with an id that no header can have', () => {
  it.each(unnameableIds)('is not exported: %j', async (orgId) => {
    const { zitadel } = await zitadelWith([organisation(orgId)]);
    await expect(exportFromZitadel(zitadel)).rejects.toThrow(`${zitadel.url} ${REFUSED} ${orgId} (no HTTP header can`);
  });

  it.each([
    [' a', "' a'"],
    ["it's\n", "$'it\\'s\\u000a'"],
  ])('is named with the option that excludes it, and the others are exported: %j', async (orgId, word) => {
    const { zitadel, tokenFile } = await zitadelWith([organisation(orgId), organisation('2')]);
    const directory = await testDirectory();
    const [file, others] = [join(directory, 'out.json'), join(directory, 'others.json')];
    const from = ['export', zitadel.url, '--token-file', tokenFile];
    const { stdout } = await call(`${from.join(' ')} --to ${file}`, 3, /^not exported: /m);
    expect(stdout).toContain(`; exclude the organisation with --exclude-org ${word}\n`);
    const { orgs } = JSON.parse(await readFile(file, 'utf8'));
    expect(orgs).toMatchObject([{ orgId: '2' }]);
    expect(stdout).toContain(`not exported: ${DEFAULT_ORGANISATION}, the default organisation (--org `);
    await call([...from, '--to', others, '--exclude-org', orgId], 0);
  });

  it.each(unnameableIds)('is not imported, and nothing else of its file either: %j', async (orgId) => {
    const zitadel = await startZitadel();
    const file = [organisation('2'), organisation(orgId)];
    for (const dryRun of [true, false])
      await expect(importIntoStandIn(zitadel, file, { dryRun })).rejects.toThrow(`${REFUSED} ${orgId} (no HTTP header`);
    expect(importsOf(zitadel)).toEqual([]);
  });
});

describe('a proxy that removes the header of the organisation', () => {
  it.each([
    ['of every call', () => true],
    ['of some calls', (path: string) => path.endsWith('/ListOrgMembers')],
  ])('is named by an export, which ends: %s', async (_, losesContext) => {
    const { zitadel, tokenFile } = await zitadelWith([organisation('1')], { losesContext });
    await call(
      `inspect ${zitadel.url} --token-file ${tokenFile}`,
      1,
      `identity: ${zitadel.url} does not receive the header x-zitadel-orgid: its response is about organisation ${DEFAULT_ORGANISATION} instead of 1; configure the proxy in front of ZITADEL to forward the header, or specify an address that bypasses the proxy\n`,
    );
  });
});

describe('records with ids that REST cannot have in a path', () => {
  it('keep neither their members nor the rest from an export', async () => {
    const [ada] = people(1);
    const projectMembers = oddIds.map((id) => ({ projectId: id, userId: ada?.userId, roles: ['PROJECT_OWNER'] }));
    const grantMember = { userId: ada?.userId, roles: ['PROJECT_GRANT_OWNER'] };
    const projectGrantMembers = oddIds.map((id) => ({ projectId: id, grantId: id, ...grantMember }));
    const { zitadel } = await zitadelWith([
      organisation('1', {
        projects: oddIds.map((id) => ({ projectId: id, project: { name: `Shop ${id}` } })),
        projectGrants: oddIds.map((id) => ({ grantId: id, projectGrant: { projectId: id, grantedOrgId: '2' } })),
        projectMembers,
        projectGrantMembers,
      }),
      organisation('2', { humanUsers: [ada] }),
    ]);
    const [org] = (await exportFromZitadel(zitadel, ['1'])).orgs;
    expect(org?.projectMembers).toHaveLength(oddIds.length);
    expect(org?.projectMembers).toEqual(expect.arrayContaining(projectMembers));
    expect(org?.projectGrantMembers).toHaveLength(oddIds.length);
    expect(org?.projectGrantMembers).toEqual(expect.arrayContaining(projectGrantMembers));
  });

  it('are found with their TOTP seeds, which are not sent again', async () => {
    const zitadel = await startZitadel({ lagMs: 0 });
    const hashed = { hashedPassword: { value: '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB' } };
    const ids = [...oddIds, ...unnameableIds];
    const humanUsers = ids.map((id, index) =>
      person(id, { userName: `name ${index}`, ...hashed, otpCode: 'JBSWY3DPEHPK3PXP' }),
    );
    const file = [organisation('1', { humanUsers })];
    await importIntoStandIn(zitadel, file);
    const sent = importsOf(zitadel).length;
    const { summary } = await importIntoStandIn(zitadel, file);
    expect(summary).toMatchObject({ created: {}, unchanged: { org: 1, humanUsers: ids.length } });
    expect(importsOf(zitadel)).toHaveLength(sent);
  });

  it('names its organisation if ZITADEL does not answer for it', async () => {
    const projects = [{ projectId: 'x'.repeat(201), project: { name: 'Shop' } }];
    const { zitadel, tokenFile } = await zitadelWith([organisation('1', { projects }), organisation('2')]);
    const { stdout } = await call(`inspect ${zitadel.url} --token-file ${tokenFile}`, 3, `: 2 organisations, `);
    expect(stdout).toMatch(
      /^not exported: .* returned InvalidArgument to the export of organisation 1: .*; exclude the organisation with --exclude-org 1$/m,
    );
  });
});
