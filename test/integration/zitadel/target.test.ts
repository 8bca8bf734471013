import { describe, expect, it } from 'vitest';
import type { ZitadelConnection } from '../../../cli/zitadel/connection.ts';
import { exportCurrent } from '../../../cli/zitadel/export/exportContent.ts';
import {
  type ImportPosition,
  type ImportRequestEvent,
  importOrganisations,
} from '../../../cli/zitadel/import/importOrganisations.ts';
import { planImport } from '../../../cli/zitadel/import/importPlan.ts';
import { droppedSections } from '../../../cli/zitadel/import/importSteps.ts';
import { organisation, zitadelRequest } from '../../support/fixtures/organisations.ts';
import { DEFAULT_ORGANISATION } from '../../support/zitadel/behaviour.ts';
import { connectTo } from '../../support/zitadel/connect.ts';
import { elements } from '../../support/zitadel/contents.ts';
import { fileWith, people } from '../../support/zitadel/files.ts';
import { startZitadel, type ZitadelStandIn } from '../../support/zitadel/standIn.ts';

const secrets = { withPasswords: true, withOtp: true, withKeys: true };
const { signal } = new AbortController();
const plan = (content: Parameters<typeof fileWith>[0]) => planImport(fileWith(content), secrets, signal);

/** Imports a file, and returns what the command would show. */
async function run(connection: ZitadelConnection, content: Parameters<typeof fileWith>[0], timeoutMs = 55_000) {
  const events: ImportRequestEvent[] = [];
  const totals = await importOrganisations(connection, await plan(content), {
    onRequest: (event) => void events.push(event),
    timeoutMs,
  });
  return { totals, events, real: events.flatMap(({ errors }) => errors.real) };
}

const plainFields = new Set(['orgId', 'orgState', 'org']);
const imports = ({ requests }: ZitadelStandIn) => requests.filter(({ path }) => path === '/admin/v1/import');
const numberOfPeople = (zitadel: ZitadelStandIn, orgId: string) =>
  zitadel.contents.organisations.get(orgId)?.sections.get('humanUsers')?.size;

describe('an import into a ZITADEL', () => {
  it('sends 10,000 people in requests of at most 5,000 records and 4,000,000 bytes', { timeout: 60_000 }, async () => {
    const zitadel = await startZitadel();
    const { totals, real } = await run(connectTo(zitadel), [organisation('1', { humanUsers: people(10_000) })]);
    expect(real).toEqual([]);
    expect(totals).toMatchObject({ records: 10_001, errors: { existing: 0, real: 0 } });
    expect(numberOfPeople(zitadel, '1')).toBe(10_000);
    const sent = imports(zitadel);
    expect(sent.map(({ records }) => records)).toEqual([0, 5_000, 5_000]);
    for (const { bytes } of sent) expect(bytes).toBeLessThanOrEqual(4_000_000);
  });

  it('fills requests up to 4,000,000 bytes of protobuf', async () => {
    const zitadel = await startZitadel();
    const actions = Array.from({ length: 250 }, (_, index) => ({
      actionId: `7${index}`,
      action: { name: `a${index}`, script: 'x'.repeat(39_000), timeout: '10s' },
    }));
    const { real } = await run(connectTo(zitadel), [organisation('1', { actions })]);
    expect(real).toEqual([]);
    const sizes = imports(zitadel).flatMap(({ bytes = 0, records = 0 }) => (records > 0 ? [bytes] : []));
    expect(sizes).toHaveLength(3);
    for (const bytes of sizes) expect(bytes).toBeLessThanOrEqual(4_000_000);
    expect(sizes[0]).toBeGreaterThan(3_950_000);
  });

  it('keeps all of an organisation that ZITADEL can keep, in the order of its references', async () => {
    const zitadel = await startZitadel();
    const orgs = zitadelRequest('import-request');
    const { real } = await run(connectTo(zitadel), orgs);
    expect(real).toEqual([]);
    expect(zitadel.contents.organisations.get(DEFAULT_ORGANISATION)?.sections.size).toBe(0);
    for (const org of orgs) {
      const { sections = new Map() } = zitadel.contents.organisations.get(org.orgId) ?? {};
      for (const [name, content] of Object.entries(org)) {
        if (plainFields.has(name)) continue;
        // ZITADEL creates a domain with each organisation, and keeps the links that a person holds apart.
        const held = elements(org.humanUsers).flatMap(({ user }) => elements(elements(user)[0]?.idps));
        const added: Readonly<Record<string, number>> = { domains: 1, userLinks: held.length };
        const expected = elements(content).length + (added[name] ?? 0);
        expect([name, sections.get(name)?.size ?? 0]).toEqual([name, droppedSections.includes(name) ? 0 : expected]);
      }
    }
    // The recorded request names this one's id outside of its record only, where ZITADEL ignores it.
    expect(zitadel.contents.find('330000000000000001', 'machineUsers', '330000000000000302')).toBeDefined();
  });

  it('writes texts of messages in the context of their organisation, as soon as the ZITADEL shows it', async () => {
    const zitadel = await startZitadel();
    const texts = (title: string) => ({ initMessages: [{ language: 'en', title }] });
    const { real } = await run(connectTo(zitadel), [organisation('1', texts('One')), organisation('2', texts('Two'))]);
    expect(real).toEqual([]);
    const titles = ['1', '2'].map((id) => zitadel.contents.find(id, 'initMessages', 'en')?.title);
    expect(titles).toEqual(['One', 'Two']);
    expect(imports(zitadel).some(({ status }) => status === 403)).toBe(true);
  });

  it('halves requests that the gateway finds too large', async () => {
    const zitadel = await startZitadel({ maxMessageBytes: 100_000 });
    const { real } = await run(connectTo(zitadel), [organisation('1', { humanUsers: people(2_000) })]);
    expect(real).toEqual([]);
    expect(numberOfPeople(zitadel, '1')).toBe(2_000);
    expect(imports(zitadel).map(({ status }) => status)).toContain(429);
  });

  it('halves requests that end at their deadline, and does not report what they had written', async () => {
    const zitadel = await startZitadel({ recordsPerSecond: 10 });
    const { events, real } = await run(connectTo(zitadel), [organisation('1', { humanUsers: people(1_000) })], 40_000);
    expect(real).toEqual([]);
    expect(events.flatMap(({ errors }) => errors.existing)).toEqual([]);
    expect(events.flatMap(({ errors }) => errors.expected).length).toBeGreaterThan(100);
    expect(numberOfPeople(zitadel, '1')).toBe(1_000);
    const statuses = imports(zitadel).map(({ status }) => status);
    expect(statuses).toContain(500);
    // Later requests begin with the smaller size.
    expect(statuses.lastIndexOf(500)).toBeLessThan(statuses.length - 1);
  });

  it('fails if a single record does not meet the deadline', async () => {
    const zitadel = await startZitadel({ recordsPerSecond: 0 });
    const running = run(connectTo(zitadel), [organisation('1', { humanUsers: people(2) })]);
    await expect(running).rejects.toThrow('the import of a single record, org 1, takes more than 55 s');
  });

  it('sends a request again after the ZITADEL has died of it and come back', async () => {
    const zitadel = await startZitadel({ diesAtWrite: 50 });
    const { real, events } = await run(connectTo(zitadel), [organisation('1', { humanUsers: people(100) })]);
    expect(zitadel.deaths()).toBe(1);
    expect(real).toEqual([]);
    expect(events.flatMap(({ errors }) => errors.existing)).toEqual([]);
    expect(numberOfPeople(zitadel, '1')).toBe(100);
  });

  it('says that the ZITADEL does not respond, and resumes at the position of its last answer', async () => {
    const zitadel = await startZitadel({ diesAtWrite: 5_500, deadMs: undefined });
    const content = [organisation('1', { humanUsers: people(6_000) })];
    const events: ImportRequestEvent[] = [];
    const onRequest = (event: ImportRequestEvent) => void events.push(event);
    const planned = await plan(content);
    await expect(importOrganisations(connectTo(zitadel), planned, { onRequest })).rejects.toThrow(
      /cannot be reached \(ECONN\w+\): check the address, and that the instance runs/,
    );
    const position = events.at(-1)?.position;
    expect(position).toMatchObject({ step: 3, done: 5_000 });
    const revived = await startZitadel();
    for (const [id, org] of zitadel.contents.organisations) revived.contents.organisations.set(id, org);
    for (const [id, orgId] of zitadel.contents.users) revived.contents.users.set(id, orgId);
    const resumed = await importOrganisations(connectTo(revived), planned, {
      onRequest,
      ...(position === undefined ? {} : { from: position }),
    });
    expect(resumed).toMatchObject({ requests: 1, records: 1_000, errors: { existing: 0, real: 0 } });
    expect(resumed.errors.expected).toBeGreaterThan(400);
    expect(numberOfPeople(revived, '1')).toBe(6_000);
  });

  it('does not resume with another file', async () => {
    const zitadel = await startZitadel();
    const from: ImportPosition = { digest: 'another', step: 1, done: 0, refused: [] };
    const running = importOrganisations(connectTo(zitadel), await plan([organisation('1')]), {
      from,
      onRequest: () => {},
    });
    await expect(running).rejects.toThrow('the export file is not the one with which the migration began');
  });

  it('reports what exists in the ZITADEL apart from what fails', async () => {
    const zitadel = await startZitadel();
    const content = [
      organisation('1', { humanUsers: people(2), domains: [{ domainName: 'a.example', isVerified: true }] }),
    ];
    await run(connectTo(zitadel), content);
    const { events, real } = await run(connectTo(zitadel), content);
    expect(real).toEqual([]);
    expect(events.flatMap(({ errors }) => errors.existing.map(({ type }) => type))).toEqual([
      'org',
      'domain',
      'human_user',
      'human_user',
    ]);
  });

  it('takes the automatic domain and verified domains for what they are', async () => {
    const zitadel = await startZitadel();
    const domains = [
      { domainName: 'organisation-1.localhost', isVerified: true },
      { domainName: 'one.example', isVerified: true },
    ];
    const connection = { ...connectTo(zitadel), baseUrl: zitadel.url.replace('127.0.0.1', 'localhost') };
    const { events, real } = await run(connection, [organisation('1', { domains })]);
    expect(real).toEqual([]);
    expect(events.flatMap(({ errors }) => errors.expected.map(({ type, id }) => `${type} ${id}`))).toEqual([
      'domain 1_organisation-1.localhost',
      'domain_isverified 1_one.example',
    ]);
  });

  it('does not send the content of an organisation that the ZITADEL refuses', async () => {
    const zitadel = await startZitadel();
    const content = [organisation('1', { humanUsers: people(3) }), organisation('2', { humanUsers: people(2, 50) })];
    await run(connectTo(zitadel), content);
    zitadel.contents.delete('1');
    const { totals, real } = await run(connectTo(zitadel), content);
    expect(real).toEqual([{ type: 'org', id: '1', message: 'ID=COMMA-Bd2jj Message=Errors.Org.Domain.AlreadyExists' }]);
    expect(totals).toMatchObject({ skipped: 3 });
  });

  it('withholds what ZITADEL cannot take, and lists it as left to do', async () => {
    const zitadel = await startZitadel();
    const content = [
      organisation('1', {
        projects: [{ projectId: '5', project: { name: 'Shop' } }],
        projectRoles: [
          { projectId: '5', roleKey: 'admin', displayName: 'Admin' },
          { projectId: '5', roleKey: 'Admin', displayName: 'Admin' },
        ],
        oidcIdps: [{ idpId: '6', idp: { name: 'IdP', clientId: 'c', issuer: 'https://idp.example' } }],
        loginPolicy: { allowUsernamePassword: true, idps: [{ idpId: '6', ownerType: 'IDP_OWNER_TYPE_ORG' }] },
        inviteUserMessages: [{ language: 'en', title: 'Welcome' }],
      }),
    ];
    const { real } = await run(connectTo(zitadel), content);
    expect(real).toEqual([]);
    const sections = zitadel.contents.organisations.get('1')?.sections;
    expect([...(sections?.get('projectRoles')?.keys() ?? [])]).toEqual(['5_admin']);
    expect(sections?.get('loginPolicy')?.size).toBe(1);
    const { leftToDo } = await plan(content);
    const about = leftToDo.entries.flatMap(({ type, id }) => (id === undefined ? [] : [`${type} ${id}`]));
    expect(about.sort()).toEqual(['invite_user_messages 1', 'login_policy 1', 'oidc_idp 6', 'project_role 5_Admin']);
  });

  it("sends a member of a project under the project's organisation only, where ZITADEL's exports repeat it", async () => {
    const zitadel = await startZitadel();
    const [member] = people(1);
    const projectMembers = [{ projectId: '5', userId: member?.userId, roles: ['PROJECT_OWNER'] }];
    const projects = [{ projectId: '5', project: { name: 'Shop' } }];
    const first = organisation('1', { humanUsers: [member], projects, projectMembers });
    const { real } = await run(connectTo(zitadel), [first, organisation('2', { projectMembers })]);
    expect(real).toEqual([]);
    expect(zitadel.contents.organisations.get('1')?.sections.get('projectMembers')?.size).toBe(1);
  });

  it.each([
    [
      'a wrong token',
      'wrong',
      /rejects the token of --token-file \(Errors.Token.Invalid \(AUTH-7fs1e\)\): create another one/,
    ],
    [
      'a user without role',
      'guest-token',
      /does not permit this .* \(membership not found \(AUTHZ-cdgFk\)\): use one of a service user with the role/,
    ],
  ])('fails for %s, and says what to do', async (_case, token, message) => {
    const zitadel = await startZitadel();
    zitadel.tokens.set('guest', 'guest-token');
    await expect(run(connectTo(zitadel, token), [organisation('1')])).rejects.toThrow(message);
    expect(zitadel.contents.organisations.size).toBe(1);
  });

  it('ends at once when its signal aborts', async () => {
    const zitadel = await startZitadel();
    const controller = new AbortController();
    const connection = { ...connectTo(zitadel), signal: controller.signal };
    const planned = await plan([organisation('1', { humanUsers: people(10) })]);
    const onRequest = () => controller.abort(new Error('interrupted'));
    await expect(importOrganisations(connection, planned, { onRequest })).rejects.toThrow('interrupted');
    expect(numberOfPeople(zitadel, '1')).toBeUndefined();
  });

  it('shows the import in an export once the projections have caught up', async () => {
    const zitadel = await startZitadel();
    await run(connectTo(zitadel), [organisation('1', { humanUsers: people(3) })]);
    const isCurrent = (found: Record<string, unknown> | undefined) => found?.humanUsers !== undefined;
    const { organisation: found } = await exportCurrent(connectTo(zitadel), '1', secrets, isCurrent);
    expect(found?.humanUsers).toHaveLength(3);
    expect(zitadel.requests.filter(({ path }) => path === '/admin/v1/export').length).toBeGreaterThan(1);
  });
});
