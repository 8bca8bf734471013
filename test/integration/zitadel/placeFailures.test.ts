import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startProgram } from '../../../tools/program.ts';
import { identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { DEFAULT_ORGANISATION } from '../../support/zitadel/behaviour.ts';
import { exportFromZitadel, importIntoStandIn } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel, tokenFileWith } from '../../support/zitadel/placeOfZitadel.ts';
import { importsOf, type ZitadelStandIn } from '../../support/zitadel/standIn.ts';

const unreachable = /^\S+ cannot be reached \(ECONN\w+\): check the address, and that the instance runs$/;
const crowd = (count: number) => organisation('acme', { humanUsers: people(count) });
const peopleOf = ({ contents }: ZitadelStandIn, orgId: string) =>
  contents.organisations.get(orgId)?.sections.get('humanUsers')?.size ?? 0;

/** The only line that is no progress. */
function message(stderr: string): string {
  return stderr.split('\n').find((line) => line.startsWith('identity: ')) ?? stderr;
}

async function ends(...args: readonly string[]) {
  const { code, stdout, stderr } = await identity(args);
  return { code, message: message(stderr), stdout };
}

describe('a call on a ZITADEL that fails', () => {
  it('reports an unsuitable token, and leaves no file', async () => {
    const { zitadel } = await filledZitadel([crowd(1)]);
    zitadel.tokens.set('guest', 'guest-token');
    zitadel.contents.users.set('guest', DEFAULT_ORGANISATION);
    const directory = await testDirectory();
    const input = await exportFileWith(crowd(1));
    const call = async (token: string) => {
      const options = ['--token-file', await tokenFileWith(token)];
      const exporting = await ends('export', zitadel.url, ...options, '--to', join(directory, 'out.json'));
      const importing = await ends('import', input, '--to', zitadel.url, ...options);
      expect([exporting.code, importing.code]).toEqual([1, 1]);
      return [exporting.message, importing.message];
    };
    const rejected = expect.stringMatching(
      /^identity: http\S+ rejects the token of --token-file \S+ \(Errors.Token.Invalid \(AUTH-7fs1e\)\): check that its user is active, or create another token there, store it alone in a file, and specify it by --token-file$/,
    );
    expect(await call('wrong')).toEqual([rejected, rejected]);
    const forbidden = (reason: string) =>
      `identity: ${zitadel.url} does not permit this to the token of --token-file (${reason}): use one of a service user with the role IAM_OWNER`;
    expect(await call('guest-token')).toEqual([
      forbidden('membership not found (AUTHZ-cdgFk)'),
      forbidden('its user has no role in the instance'),
    ]);
    expect(await readdir(directory)).toEqual([]);
  });

  it.each([[['IAM_OWNER_VIEWER'], 'is IAM_OWNER_VIEWER only'] as const, [[], 'has no role in the instance'] as const])(
    'refuses a token without the role for an import, and for a dry run: %j',
    async (roles, found) => {
      const { zitadel, tokenFile } = await filledZitadel([], { roles });
      const to = ['--to', zitadel.url, '--token-file', tokenFile];
      for (const more of [['--dry-run'], []])
        expect(await ends('import', await exportFileWith(crowd(1)), ...to, ...more)).toMatchObject({
          code: 1,
          message: `identity: ${zitadel.url} does not permit this to the token of --token-file (its user ${found}): use one of a service user with the role IAM_OWNER`,
        });
      const sides = ['--from', await exportFileWith(crowd(1)), '--to', zitadel.url, '--to-token-file', tokenFile];
      expect(await ends('migrate', ...sides, '--dry-run')).toMatchObject({
        message: expect.stringMatching(
          /does not permit (?:ex|im)ports: use one of a service user with the role IAM_OWNER$/,
        ),
      });
      expect(importsOf(zitadel)).toEqual([]);
    },
  );

  it('names the host that a ZITADEL expects, with its own message', async () => {
    const { zitadel, tokenFile } = await filledZitadel([crowd(1)], { externalDomain: 'localhost' });
    const { host } = new URL(zitadel.url);
    const call = (url: string) => ends('inspect', url, '--token-file', tokenFile);
    expect(await call(zitadel.url)).toMatchObject({
      code: 1,
      message: `identity: ${zitadel.url} is a ZITADEL instance that does not serve this host (unable to set instance using origin &{${host} http} (ExternalDomain is localhost): ID=QUERY-1kIjX Message=Instance not found. Make sure you got the domain right. Check out https://zitadel.com/docs/apis/introduction#domains): specify the address with its ExternalDomain, or let the proxy before it pass that host on`,
    });
    expect(await call(zitadel.url.replace('127.0.0.1', 'localhost'))).toMatchObject({ code: 0 });
  });

  it('is repeated if the response asks for that', async () => {
    const { zitadel, tokenFile } = await filledZitadel([crowd(1)], { refusals: [429, 429, 503, 200, 429] });
    expect(await ends('inspect', zitadel.url, '--token-file', tokenFile)).toMatchObject({ code: 0 });
  });

  it('recognises an instance of this service that was not ready for the first calls', async () => {
    const description = { info: { title: 'Identity', version: '1.0.0' }, paths: { '/admin/v1/export': {} } };
    const statuses = [503, 429];
    const url = await startServer((response) => {
      const isDescription = response.req.url === '/openapi.json';
      response.writeHead(statuses.shift() ?? (isDescription ? 200 : 404)).end(JSON.stringify(description));
    });
    const { message: problem } = await ends('inspect', url, '--token-file', await tokenFileWith('token'));
    // This server answers an export with 404.
    expect(problem).toBe(`identity: ${url} refuses: status 404: ${JSON.stringify(description)}`);
  });

  it('contains the response of a server that is no ZITADEL', async () => {
    const url = await startServer((response) => response.writeHead(500).end('no backend\nfound'));
    const answers = '/openapi.json returns 500), nor a ZITADEL instance (/.well-known/openid-configuration returns 500';
    expect((await ends('inspect', url, '--token-file', await tokenFileWith('token'))).message).toBe(
      `identity: ${url} is not an instance of this service (${answers}: no backend found): check the address, without a path`,
    );
  });

  it('exports more than a request may have, and imports in halves what is too large', async () => {
    const { zitadel, tokenFile } = await filledZitadel([crowd(500)], { maxMessageBytes: 60_000 });
    const path = join(await testDirectory(), 'out.json');
    const options = ['--org', 'acme', '--with', 'passwords,otp'];
    const exported = await ends('export', zitadel.url, '--token-file', tokenFile, '--to', path, ...options);
    expect(exported.code, exported.message).toBe(0);
    const { zitadel: target } = await filledZitadel([], { maxMessageBytes: 60_000 });
    expect(await ends('import', path, '--to', target.url, '--token-file', tokenFile)).toMatchObject({ code: 0 });
    expect(peopleOf(target, 'acme')).toBe(500);
    expect(target.requests.map(({ status }) => status)).toContain(429);
  });

  it('names the organisation that a ZITADEL of July 2026 cannot export, because a user is of two kinds', async () => {
    const { zitadel, tokenFile } = await filledZitadel([crowd(2)], { release: '2026-07' });
    zitadel.contents.put('acme', 'humanUsers', 'both', person('both'));
    zitadel.contents.put('acme', 'machineUsers', 'both', { userId: 'both', user: { userName: 'both', name: 'Both' } });
    const problem = `${zitadel.url} fails to export organisation acme with FailedPrecondition: User could not be found (QUERY-3n77z); exclude it with --exclude-org acme`;
    const path = join(await testDirectory(), 'out.json');
    const exported = await ends('export', zitadel.url, '--token-file', tokenFile, '--org', 'acme', '--to', path);
    expect(exported).toMatchObject({ code: 3, stdout: expect.stringContaining(`\nnot exported: ${problem}\n`) });
  });

  it('exports and inspects the other organisations if one cannot be exported, and reports it', async () => {
    // ZITADEL accepts this application, and fails to read it.
    const app = { projectId: '5', name: 'web', postLogoutRedirectUris: ['null'] };
    const broken = organisation('broken', {
      projects: [{ projectId: '5', project: { name: 'Shop' } }],
      oidcApps: [{ appId: '6', app }],
    });
    const { zitadel, tokenFile } = await filledZitadel([broken, crowd(2)]);
    const from = [zitadel.url, '--token-file', tokenFile];
    const problem = `${zitadel.url} fails to export organisation broken with Internal: An internal error occurred (QUERY-h9TeF); exclude it with --exclude-org broken`;
    const path = join(await testDirectory(), 'out.json');
    const exported = await ends('export', ...from, '--org', 'broken', '--org', 'acme', '--to', path);
    expect(exported).toMatchObject({ code: 3, stdout: expect.stringContaining(`\nnot exported: ${problem}\n`) });
    expect(exported.stdout).toContain('exported 1 organisation ');
    expect(exported.stdout).not.toContain('not found');
    const inspected = await ends('inspect', ...from);
    expect(inspected).toMatchObject({ code: 3, stdout: expect.stringContaining(`\nnot exported: ${problem}\n`) });
    expect(inspected.stdout).toContain(`${zitadel.url}: 2 organisations, `);
    // What a comparison leaves out would pass for equal.
    const both = await exportFileWith(broken, crowd(2));
    expect(await ends('compare', both, ...from)).toMatchObject({ code: 1, message: `identity: ${problem}` });
    expect(await ends('inspect', ...from, '--exclude-org', 'broken')).toMatchObject({ code: 0 });
  });

  it('imports on through the death of the ZITADEL, and completes when it is repeated', async () => {
    const { zitadel } = await filledZitadel([], { diesAtWrite: 60, deadMs: 500 });
    const survived = await importIntoStandIn(zitadel, [crowd(100)]);
    expect({ deaths: zitadel.deaths(), ...survived.summary }).toMatchObject({ deaths: 1, failed: {}, unchanged: {} });
    expect(survived.summary.created).toEqual({ org: 1, humanUsers: 100 });
    zitadel.behaviour.diesAtWrite = 50;
    zitadel.behaviour.deadMs = undefined;
    await expect(importIntoStandIn(zitadel, [crowd(200)])).rejects.toThrow(unreachable);
    zitadel.revive();
    const { created, unchanged } = (await importIntoStandIn(zitadel, [crowd(200)])).summary;
    expect({ created, unchanged }).toEqual({ created: { humanUsers: 56 }, unchanged: { humanUsers: 144, org: 1 } });
    expect(peopleOf(zitadel, 'acme')).toBe(200);
  });

  it('ends an import with the call and the address if the ZITADEL stops responding', async () => {
    const { zitadel } = await filledZitadel([], { stallsAtWrite: 10 });
    const importing = importIntoStandIn(zitadel, [crowd(20)], { responseLimitMs: 1_000 });
    const ended = expect(importing).rejects.toThrow(
      `${zitadel.url} did not respond to GET /.well-known/openid-configuration within 1 s: `,
    );
    await expect.poll(() => peopleOf(zitadel, 'acme')).toBe(20);
    zitadel.behaviour.isSilent = true;
    await ended;
  });

  it('reports that the ZITADEL became unreachable during its export', async () => {
    const { zitadel } = await filledZitadel([crowd(20)], { exportMs: 5_000, deadMs: undefined });
    const exporting = expect(exportFromZitadel(zitadel)).rejects.toThrow(unreachable);
    await expect
      .poll(() => zitadel.requests.map(({ path }) => path))
      .toContain('/zitadel.admin.v1.AdminService/ListOrgs');
    await expect(deadlyExport(zitadel)).rejects.toThrow();
    await exporting;
  });

  it('ends at Ctrl-C, reports that no file is left, and completes when it is repeated', async () => {
    const { zitadel, tokenFile } = await filledZitadel([crowd(20)], { exportMs: 5_000 });
    const path = join(await testDirectory(), 'out.json');
    const [command, script] = identityProgram;
    const args = [script, 'export', zitadel.url, '--token-file', tokenFile, '--to', path, '--json'];
    const exporting = await startProgram(command, args, /"event":"progress"/);
    expect(await exporting.stop('SIGINT')).toMatchObject({
      code: 130,
      stderr: `identity: interrupted: nothing is left in ${path}; repeat the command\n`,
    });
    zitadel.behaviour.exportMs = 0;
    expect(await ends('export', zitadel.url, '--token-file', tokenFile, '--to', path)).toMatchObject({ code: 0 });
  });

  it('ends at SIGTERM in the middle of an import, and completes without doubling when it is repeated', async () => {
    const { zitadel, tokenFile } = await filledZitadel([], { lagMs: 0, stallsAtWrite: 10 });
    const projects = [{ projectId: '5', project: { name: 'Shop' } }];
    const input = await exportFileWith({ ...crowd(20), projects });
    const to = ['import', input, '--to', zitadel.url, '--token-file', tokenFile];
    const [command, script] = identityProgram;
    const importing = await startProgram(command, [script, ...to, '--json'], /"event":"progress"/);
    await expect.poll(() => peopleOf(zitadel, 'acme')).toBe(20);
    expect(await importing.stop('SIGTERM')).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(
        /^identity: interrupted: \S+ had reported \d+ records?, and what it has written remains; repeat the command\n$/,
      ),
    });
    zitadel.behaviour.stallsAtWrite = Infinity;
    const again = await ends(...to);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^created: .*projects 1/m) });
    expect(again.stdout).toMatch(/^unchanged: .*people 20/m);
    expect(peopleOf(zitadel, 'acme')).toBe(20);
  });

  it('compares with delayed projections of a ZITADEL, and lists the differences as expected', async () => {
    const { zitadel, tokenFile } = await filledZitadel([], { lagMs: 1_500 });
    const input = await exportFileWith(organisation('acme', { humanUsers: [hashed('ada'), person('bob')] }));
    expect(await ends('import', input, '--to', zitadel.url, '--token-file', tokenFile)).toMatchObject({ code: 0 });
    const sides = ['compare', input, zitadel.url, '--token-file', tokenFile, '--exclude-org', DEFAULT_ORGANISATION];
    const { code, stdout } = await ends(...sides, '--with', 'passwords');
    expect({ code, lines: stdout.trim().split('\n') }).toEqual({
      code: 0,
      lines: [
        'equal in all that was compared, except for expected differences of ZITADEL',
        'people: 1 equal, 1 different as expected',
        `domains: 0 equal, 1 only in ${zitadel.url}`,
        'organisations: 1 equal',
        'not compared: otp, keys (--with)',
        '',
        'Differences as expected',
        expect.stringMatching(/^ {2}person bob \(name of bob\) of acme: ZITADEL makes people without password hash/),
        expect.stringMatching(/^ {2}domain acme_.* of acme: ZITADEL adds a domain to each organisation$/),
      ],
    });
    zitadel.contents.put('acme', 'humanUsers', 'ada', hashed('ada', 'countess'));
    const found = await ends(...sides);
    expect(found).toMatchObject({ code: 3, stdout: expect.stringContaining('"name of ada" | "countess"') });
  });
});

/** Starts a server with responses chosen by a test, until the test has finished. */
async function startServer(respond: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    respond(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

/** A ZITADEL dies of an exclusion that matches. */
function deadlyExport({ url, behaviour }: ZitadelStandIn): Promise<Response> {
  behaviour.exportMs = 0;
  const body = JSON.stringify({ orgIds: ['acme'], excludedOrgIds: ['acme'] });
  return fetch(`${url}/admin/v1/export`, { method: 'POST', body, headers: { authorization: 'Bearer owner-token' } });
}

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';

/** A person whom a ZITADEL keeps as it is. */
function hashed(userId: string, userName = `name of ${userId}`) {
  const email = { email: `${userId}@customer.example`, isEmailVerified: true };
  return person(userId, { userName, email, hashedPassword: { value: HASH } });
}
