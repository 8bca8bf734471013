import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProgram } from '../../../tools/program.ts';
import { call } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { startServer } from '../../support/places/fakeInstance.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { DEFAULT_ORGANISATION, type ZitadelBehaviour } from '../../support/zitadel/behaviour.ts';
import { exportFromZitadel, importIntoStandIn } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel, tokenFileWith } from '../../support/zitadel/placeOfZitadel.ts';
import { importsOf, type ZitadelStandIn } from '../../support/zitadel/standIn.ts';

const unreachable = /^\S+ cannot be reached \(ECONN\w+\): check the address, and that the instance runs$/;
const crowd = (count: number) => organisation('acme', { humanUsers: people(count) });
const peopleOf = ({ contents }: ZitadelStandIn, orgId: string) =>
  contents.organisations.get(orgId)?.sections.get('humanUsers')?.size ?? 0;

/** A stand-in, its address with the option of its token, and the name of a new file. */
async function placeWith(orgs: readonly object[], given: Partial<ZitadelBehaviour> = {}) {
  const { zitadel, tokenFile } = await filledZitadel(orgs, given);
  const out = join(await testDirectory(), 'out.json');
  return { zitadel, out, tokenFile, place: `${zitadel.url} --token-file ${tokenFile}` };
}

describe('a call on a ZITADEL that fails', () => {
  it('reports an unsuitable token, and leaves no file', async () => {
    const { zitadel } = await filledZitadel([crowd(1)]);
    zitadel.tokens.set('guest', 'guest-token');
    zitadel.contents.users.set('guest', DEFAULT_ORGANISATION);
    const directory = await testDirectory();
    const input = await exportFileWith(crowd(1));
    const rejected =
      /identity: http\S+ rejects the token of --token-file \S+ \(Errors.Token.Invalid \(AUTH-7fs1e\)\): check that the user of the token is active, or create another token for \S+, store only the token in a file, and specify the file with --token-file\n/;
    const forbidden = (reason: string) =>
      `identity: ${zitadel.url} does not permit this call with the token of --token-file (${reason}): use a token of a service user with the role IAM_OWNER\n`;
    for (const [token, exporting, importing] of [
      ['wrong', rejected, rejected],
      ['guest-token', 'membership not found (AUTHZ-cdgFk)', 'the user of the token has no role in the instance'],
    ] as const) {
      const place = `${zitadel.url} --token-file ${await tokenFileWith(token)}`;
      const problem = (text: string | RegExp) => (typeof text === 'string' ? forbidden(text) : text);
      await call(`export ${place} --to ${join(directory, 'out.json')}`, 1, problem(exporting));
      await call(`import ${input} --to ${place}`, 1, problem(importing));
    }
    expect(await readdir(directory)).toEqual([]);
  });

  it.each([[['IAM_OWNER_VIEWER'], 'is only IAM_OWNER_VIEWER'] as const, [[], 'has no role in the instance'] as const])(
    'refuses a token without the role for an import, and for a dry run: %j',
    async (roles, found) => {
      const { zitadel, place } = await placeWith([], { roles });
      const problem = `identity: ${zitadel.url} does not permit this call with the token of --token-file (the user of the token ${found}): use a token of a service user with the role IAM_OWNER\n`;
      for (const more of [' --dry-run', ''])
        await call(`import ${await exportFileWith(crowd(1))} --to ${place}${more}`, 1, problem);
      const permit = /does not permit (?:ex|im)ports: use a token of a service user with the role IAM_OWNER$/m;
      await call(`migrate --from ${await exportFileWith(crowd(1))} --to ${place} --dry-run`, 1, permit);
      expect(importsOf(zitadel)).toEqual([]);
    },
  );

  it('names the host that a ZITADEL expects, with its own message', async () => {
    const { zitadel, place } = await placeWith([crowd(1)], { externalDomain: 'localhost' });
    const { host } = new URL(zitadel.url);
    await call(
      `inspect ${place}`,
      1,
      `identity: ${zitadel.url} is a ZITADEL instance that does not serve this host (unable to set instance using origin &{${host} http} (ExternalDomain is localhost): ID=QUERY-1kIjX Message=Instance not found. Make sure you got the domain right. Check out https://zitadel.com/docs/apis/introduction#domains): specify the address with its ExternalDomain, or configure the proxy in front of ZITADEL to forward ExternalDomain as the host\n`,
    );
    await call(`inspect ${place.replace('127.0.0.1', 'localhost')}`, 0);
  });

  it('is repeated if the response asks for that', async () => {
    const { place } = await placeWith([crowd(1)], { refusals: [429, 429, 503, 200, 429] });
    await call(`inspect ${place}`, 0);
  });

  it('recognises an instance of this service that was not ready for the first calls', async () => {
    const description = { info: { title: 'Identity', version: '1.0.0' }, paths: { '/admin/v1/export': {} } };
    const statuses = [503, 429];
    const url = await startServer((request, response) => {
      const status = statuses.shift() ?? (request.url === '/openapi.json' ? 200 : 404);
      response.writeHead(status).end(JSON.stringify(description));
    });
    // This server answers an export with 404.
    const problem = `identity: ${url} refuses: status 404: ${JSON.stringify(description)}: check that`;
    await call(`inspect ${url} --token-file ${await tokenFileWith('token')}`, 1, problem);
  });

  it('contains the response of a server that is no ZITADEL', async () => {
    const url = await startServer((_request, response) => response.writeHead(404).end('no backend\nfound'));
    const answers =
      '/openapi.json returns 404: no backend found), nor a ZITADEL instance (/.well-known/openid-configuration returns 404';
    const problem = `identity: ${url} is not an instance of this service (${answers}: no backend found): check the address, which must not contain a path\n`;
    await call(`inspect ${url} --token-file ${await tokenFileWith('token')}`, 1, problem);
  });

  it('contains the response of a server that fails', async () => {
    const url = await startServer((_request, response) => response.writeHead(500).end('no backend\nfound'));
    const problem = `identity: ${url} failed: status 500: no backend found: repeat the command\n`;
    await call(`inspect ${url} --token-file ${await tokenFileWith('token')}`, 1, problem);
  });

  it('exports more than a request may have, and imports in halves what is too large', async () => {
    const { out, place } = await placeWith([crowd(500)], { maxMessageBytes: 60_000 });
    await call(`export ${place} --to ${out} --org acme --with passwords,otp`, 0);
    const target = await placeWith([], { maxMessageBytes: 60_000 });
    await call(`import ${out} --to ${target.place}`, 0);
    expect(peopleOf(target.zitadel, 'acme')).toBe(500);
    expect(target.zitadel.requests.map(({ status }) => status)).toContain(429);
  });

  it('names the organisation that a ZITADEL of July 2026 cannot export, because a user is of two kinds', async () => {
    const { zitadel, out, place } = await placeWith([crowd(2)], { release: '2026-07' });
    zitadel.contents.put('acme', 'humanUsers', 'both', person('both'));
    zitadel.contents.put('acme', 'machineUsers', 'both', { userId: 'both', user: { userName: 'both', name: 'Both' } });
    const problem = `${zitadel.url} returned FailedPrecondition to the export of organisation acme: User could not be found (QUERY-3n77z); exclude the organisation with --exclude-org acme`;
    await call(`export ${place} --org acme --to ${out}`, 3, `\nnot exported: ${problem}\n`);
  });

  it('exports and inspects the other organisations if one cannot be exported, and reports it', async () => {
    // ZITADEL accepts this application, and fails to read it.
    const app = { projectId: '5', name: 'web', postLogoutRedirectUris: ['null'] };
    const broken = organisation('broken', {
      projects: [{ projectId: '5', project: { name: 'Shop' } }],
      oidcApps: [{ appId: '6', app }],
    });
    const { zitadel, out, place } = await placeWith([broken, crowd(2)]);
    const problem = `${zitadel.url} returned Internal to the export of organisation broken: An internal error occurred (QUERY-h9TeF); exclude the organisation with --exclude-org broken`;
    const left = `\nnot exported: ${problem}\n`;
    const exporting = `export ${place} --org broken --org acme --to ${out}`;
    expect((await call(exporting, 3, left, 'exported 1 organisation ')).stdout).not.toContain('not found');
    await call(`inspect ${place}`, 3, left, `${zitadel.url}: 2 organisations, `);
    // What a comparison leaves out would pass for equal.
    await call(`compare ${await exportFileWith(broken, crowd(2))} ${place}`, 1, `identity: ${problem}\n`);
    await call(`inspect ${place} --exclude-org broken`, 0);
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
    const called = () => zitadel.requests.map(({ path }) => path);
    await expect.poll(called).toContain('/zitadel.admin.v1.AdminService/ListOrgs');
    await expect(deadlyExport(zitadel)).rejects.toThrow();
    await exporting;
  });

  it('ends at Ctrl-C, reports that no file is left, and completes when it is repeated', async () => {
    const { zitadel, out, place } = await placeWith([crowd(20)], { exportMs: 5_000 });
    const exporting = `export ${place} --to ${out}`;
    expect(await stopped(exporting, 'SIGINT')).toMatchObject({
      code: 130,
      stderr: `identity: interrupted: ${out} was not created; repeat the command\n`,
    });
    zitadel.behaviour.exportMs = 0;
    await call(exporting, 0);
  });

  it('ends at SIGTERM in the middle of an import, and completes without doubling when it is repeated', async () => {
    const { zitadel, place } = await placeWith([], { lagMs: 0, stallsAtWrite: 10 });
    const projects = [{ projectId: '5', project: { name: 'Shop' } }];
    const importing = `import ${await exportFileWith({ ...crowd(20), projects })} --to ${place}`;
    const until = () => expect.poll(() => peopleOf(zitadel, 'acme')).toBe(20);
    expect(await stopped(importing, 'SIGTERM', until)).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(
        /^identity: interrupted: \S+ had confirmed \d+ records?; all written records remain; repeat the command\n$/,
      ),
    });
    zitadel.behaviour.stallsAtWrite = Infinity;
    await call(importing, 0, /^created: .*projects 1/m, /^unchanged: .*people 20/m);
    expect(peopleOf(zitadel, 'acme')).toBe(20);
  });

  it('compares with delayed projections of a ZITADEL, and lists the differences as expected', async () => {
    const { zitadel, place } = await placeWith([], { lagMs: 1_500 });
    const input = await exportFileWith(organisation('acme', { humanUsers: [hashed('ada'), person('bob')] }));
    await call(`import ${input} --to ${place}`, 0);
    const comparing = `compare ${input} ${place} --exclude-org ${DEFAULT_ORGANISATION}`;
    const { stdout } = await call(`${comparing} --with passwords`, 0);
    expect(stdout.trim().split('\n')).toEqual([
      'all compared records are equal, except for expected differences of ZITADEL',
      'people: 1 equal, 1 different as expected',
      `domains: 0 equal, 1 only in ${zitadel.url}`,
      'organisations: 1 equal',
      'not compared: otp, keys (--with selects them)',
      '',
      'Differences as expected',
      expect.stringMatching(/^ {2}person bob \(name of bob\) of acme: ZITADEL gives people without a password hash/),
      expect.stringMatching(/^ {2}domain acme_.* of acme: ZITADEL adds a domain to each organisation$/),
    ]);
    zitadel.contents.put('acme', 'humanUsers', 'ada', hashed('ada', 'countess'));
    await call(comparing, 3, '"name of ada" | "countess"');
  });
});

/** Starts a call in a process of its own, and ends it by a signal. */
async function stopped(line: string, signal: 'SIGINT' | 'SIGTERM', until: () => Promise<unknown> = async () => {}) {
  const [command, script] = identityProgram;
  const running = await startProgram(command, [script, ...line.split(' '), '--json'], /"event":"progress"/);
  await until();
  return running.stop(signal);
}

/** A ZITADEL dies of an exclusion that matches. */
function deadlyExport({ url, behaviour }: ZitadelStandIn): Promise<Response> {
  behaviour.exportMs = 0;
  const body = JSON.stringify({ orgIds: ['acme'], excludedOrgIds: ['acme'] });
  return fetch(`${url}/admin/v1/export`, { method: 'POST', body, headers: { authorization: 'Bearer owner-token' } });
}

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';

/** A person whom ZITADEL keeps without a change. */
function hashed(userId: string, userName = `name of ${userId}`) {
  const email = { email: `${userId}@customer.example`, isEmailVerified: true };
  return person(userId, { userName, email, hashedPassword: { value: HASH } });
}
