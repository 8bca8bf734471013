import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { run, startProgram } from '../../../tools/program.ts';
import { call, calling, identityJson } from '../../support/command.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { startTlsProxy } from '../../support/http/tlsProxy.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { emptyExport, startFakeInstance } from '../../support/places/fakeInstance.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { identityProcess, identityProgram } from '../../support/processes/programs.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { tokenFileWith } from '../../support/zitadel/placeOfZitadel.ts';

const createdToken = z.looseObject({ tokenId: z.string() });
const portSchema = z.looseObject({ port: z.number() });
const createdUser = z.looseObject({ userId: z.string() });

/** A served instance with a new service user, and a directory. */
async function placeWithUser() {
  const { url, location } = await servedPlace(sqlite);
  const options = databaseOptions(location);
  const { userId } = createdUser.parse(await identityJson(['service-user', 'create', 'mover', ...options]));
  const directory = await testDirectory();
  const newToken = async (name: string, more: readonly string[] = [], now = new Date()) => {
    const file = join(directory, name);
    const create = ['pat', 'create', '--user', userId, '--token-file', file, ...more, ...options];
    return { file, ...createdToken.parse(await identityJson(create, { now })) };
  };
  const exporting = (file: string) => `export ${url} --token-file ${file} --to ${join(directory, 'out.json')}`;
  return { url, options, database: options.join(' '), userId, directory, newToken, exporting };
}

describe('a call on places that fails', () => {
  it('explains why a well-formed token is rejected', async () => {
    const { database, userId, newToken, exporting } = await placeWithUser();
    const hour = ['--expires', '1h'];
    const expired = await newToken('expired.pat', hour, new Date(Date.now() - 2 * 3_600_000));
    const problem = `rejects the token of --token-file ${expired.file} (the token has expired): create another token for `;
    await call(exporting(expired.file), 1, problem);
    await call(`pat list --user ${userId} ${database}`, 0, 'Z (expired)');
    const revoked = await newToken('revoked.pat', hour);
    await call(`pat revoke ${revoked.tokenId} ${database}`, 0);
    await call(exporting(revoked.file), 1, '(the token was revoked, or belongs to another instance)');
    const locked = await newToken('locked.pat', hour);
    await call(`user lock ${userId} ${database}`, 0);
    await call(exporting(locked.file), 1, '(the user of the token is locked, deactivated or deleted)');
  });

  it('reports an unsuitable token, and never prints it', async () => {
    const { url, database, userId, directory, newToken, exporting } = await placeWithUser();
    await call(
      exporting(await tokenFileWith('some-token')),
      1,
      /identity: http\S+ rejects the token of --token-file \S+ \(.+\): check that the user of the token is active, or create another token for \S+, store only the token in a file, and specify the file with --token-file\n$/,
    );
    const permit = 'does not permit this call with the token of --token-file (';
    const weak = await newToken('weak.pat');
    await call(exporting(weak.file), 1, permit, '): use a token of a service user with the role IAM_OWNER\n');
    await call(`member add --user ${userId} --role IAM_OWNER ${database}`, 0);
    const narrow = await newToken('narrow.pat', ['--only', 'import']);
    const only = 'the token is valid for import only: use a token that is valid for export)\n';
    await call(exporting(narrow.file), 1, `${permit}${only}`);
    for (const [content, found] of [
      ['two words', 'contains spaces or other characters that no token has'],
      ['"quoted"', 'contains a text in quotes'],
      ['{"token":"in-json"}', 'contains JSON'],
      ['Bearer with-scheme', 'contains a header'],
      ['a-user\na-token', 'contains several lines'],
      ['a‑token', 'contains no text in ASCII'],
      ['', 'is empty'],
    ] as const) {
      const refused = `${found}: store only the token, on one line`;
      const { stderr } = await call(exporting(await tokenFileWith(content)), 64, refused);
      if (content !== '') expect(stderr).not.toContain(content);
    }
    const remedy = `identity: missing option --token-file: the file with the token for ${url}\n`;
    await call(exporting('').replace('--token-file', ''), 64, remedy);
    expect(await readdir(directory)).toEqual(['narrow.pat', 'weak.pat']);
  });

  it('reports that the place is unreachable, or another service', async () => {
    const target = `--token-file ${await tokenFileWith('some-token')} --to ${join(await testDirectory(), 'out.json')}`;
    const unreachable = 'cannot be reached (ECONNREFUSED): check the address, and that the instance runs\n';
    await call(`export http://127.0.0.1:9 ${target}`, 1, `identity: http://127.0.0.1:9 ${unreachable}`);
    const bucket = await startLocalBucket();
    onTestFinished(() => bucket.close());
    const foreign = /is not an instance of this service \(\/openapi\.json returns 404: .+\), nor/;
    await call(`export ${bucket.url} ${target}`, 1, foreign);
  });

  it.each([
    ['SSH-2.0-OpenSSH_9.6\r\n', 'does not speak HTTP/1.1 (HPE_INVALID_CONSTANT): another service uses this port'],
    [
      "-ERR unknown command 'GET'\r\n",
      'does not speak HTTP/1.1 (HPE_INVALID_CONSTANT): another service uses this port',
    ],
    ['HTTP/1.1 200 OK\r\nno header\r\n\r\n', 'sends an invalid HTTP response (HPE_INVALID_HEADER_TOKEN): check'],
  ])('reports a port whose service answers with %j', async (answer, problem) => {
    const service = createServer(
      (socket) =>
        void socket
          .on('error', () => undefined)
          .resume()
          .end(answer),
    );
    service.listen(0, '127.0.0.1');
    onTestFinished(async () => void (await service[Symbol.asyncDispose]()));
    await once(service, 'listening');
    const { port } = portSchema.parse(service.address());
    const target = `--token-file ${await tokenFileWith('some-token')} --to ${join(await testDirectory(), 'out.json')}`;
    await call(`export http://127.0.0.1:${port} ${target}`, 1, `identity: http://127.0.0.1:${port} ${problem}`);
  });

  describe('by TLS', () => {
    const inspect = async (url: string, token: string, env = {}) => {
      const { code, stderr } = await identityProcess(['inspect', url, '--token-file', token], { env });
      return code === 0 ? '' : stderr.slice(stderr.indexOf('identity: ') + 'identity: '.length).trim();
    };

    it('names an untrusted certificate, a port that expects TLS, and one without', async () => {
      const plain = await servedPlace(sqlite);
      const url = await startTlsProxy(plain.url);
      const token = plain.tokenFile;
      const [{ host }, { host: plainHost }] = [new URL(url), new URL(plain.url)];
      expect(await inspect(url, token)).toBe(
        `the certificate of ${url} is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT): correct the certificate on the server, or set NODE_EXTRA_CA_CERTS to the PEM file of the certificate authority`,
      );
      expect(await inspect(`http://${host}`, token)).toBe(`http://${host} expects TLS: specify https://${host}`);
      expect(await inspect(`https://${plainHost}`, token)).toBe(
        `https://${plainHost} does not use TLS: specify its TLS port, or on this machine http://${plainHost}`,
      );
      const authority = new URL('../../fixtures/tls/first.crt', import.meta.url).pathname;
      for (const variable of ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'])
        expect(await inspect(url, token, { [variable]: authority }), variable).toBe('');
    });
  });

  it('leaves nothing under the name of a file whose source breaks off', async () => {
    const broken = await startFakeInstance((response) => {
      response.write('{"orgs":[{"orgId":"1",', () => response.destroy());
    });
    const directory = await testDirectory();
    const target = `--token-file ${await tokenFileWith('some-token')} --to ${join(directory, 'out.json.gz')}`;
    const problem =
      'failed: the connection was lost during the response to POST /admin/v1/export (ECONNRESET): repeat the command\n';
    await call(`export ${broken.url} ${target}`, 1, `identity: ${broken.url} ${problem}`);
    expect(await readdir(directory)).toEqual([]);
  });

  it('does not import what a source has not sent completely', async () => {
    const { url, tokenFile, database } = await servedPlace(sqlite);
    let calls = 0;
    const cut = await startFakeInstance((response) => {
      const isTrial = calls++ % 2 === 0;
      if (isTrial) return void response.end(emptyExport);
      const text = JSON.stringify({ orgs: [organisation('half', { humanUsers: [person('ada')] })] });
      response.write(text.slice(0, -10), () => response.destroy());
    });
    const from = `import ${cut.url} --with none --from-token-file ${await tokenFileWith('some-token')}`;
    for (const to of [`${url} --to-token-file ${tokenFile}`, database])
      await call(`${from} --to ${to}`, 1, `${cut.url} failed: the connection was lost during the response to POST`);
    await call(`export ${database} --to - --org half`, 64, 'does not have organisation half: correct --org');
  });

  it('cancels the request at Ctrl-C, and reports what remains', async () => {
    const waiting = await startFakeInstance((response) => void response.write('{"orgs":['));
    const directory = await testDirectory();
    const target = join(directory, 'out.json');
    const token = await tokenFileWith('some-token');
    const interrupt = async (...args: readonly string[]) => {
      const [command, script] = identityProgram;
      return (await startProgram(command, [script, ...args, '--json'], /"event":"progress"/)).stop('SIGINT');
    };
    expect(
      await interrupt('export', waiting.url, '--org', 'acme', '--token-file', token, '--to', target),
    ).toMatchObject({ code: 130, stderr: `identity: interrupted: ${target} was not created; repeat the command\n` });
    await waiting.clientLeft;
    expect(await readdir(directory)).toEqual([]);
    const stuck = await startFakeInstance(() => {});
    const file = await exportFileWith(organisation('acme'));
    expect(await interrupt('import', file, '--to', stuck.url, '--token-file', token)).toMatchObject({
      code: 130,
      stderr: `identity: interrupted: ${stuck.url} had not confirmed any record, but may have written records, which remain; repeat the command\n`,
    });
    await stuck.clientLeft;
  });

  it('names what a target rejects: the place in a file, and a record with other content, with the code 3', async () => {
    const { url, tokenFile, database } = await servedPlace(sqlite);
    const acme = (user: object) => exportFileWith(organisation('acme', { humanUsers: [person('ada', user)] }));
    const repeated = await exportFileWith({ orgId: 'a', org: { name: 'A' } }, { orgId: 'a', org: { name: 'B' } });
    const problem = `refuses ${repeated}: orgs[1].org: contradicts orgs[0].org: remove one of them\n`;
    await call(`import ${await acme({})} --to ${database}`, 0);
    const other = await acme({ userName: 'other' });
    for (const to of [`${url} --token-file ${tokenFile}`, database]) {
      const [place] = to.split(' ');
      await call(`import ${repeated} --to ${to}`, 1, `identity: ${place} ${problem}`);
      const tried = `dry run of an import into ${place}: nothing is written, with 1 error\n`;
      const listed = 'failed: people 1\n\nErrors\n  person ada: exists with other content';
      await call(`import ${other} --to ${to} --dry-run`, 3, tried, listed);
    }
    await call(`import ${other} --to ${database} --on-conflict overwrite`, 0, 'overwritten: people 1');
  });

  it('reports a missing bucket, an existing object and missing credentials', async () => {
    const { database } = await servedPlace(sqlite);
    const bucket = await startLocalBucket();
    onTestFinished(() => bucket.close());
    const env = { STORAGE_EMULATOR_HOST: bucket.url };
    const callBucket = calling({ env });
    const to = (object: string) => `export ${database} --to gs://${object} --credentials-file ${bucket.keyFile}`;
    const missing = 'identity: gs://nowhere/a.json: the bucket nowhere does not exist: check its name\n';
    await callBucket(to('nowhere/a.json'), 64, missing);
    await callBucket(to('exports/a.json'), 0);
    const exists = 'the object exists and is never overwritten: choose another path\n';
    await callBucket(to('exports/a.json'), 1, `identity: gs://exports/a.json: ${exists}`);
    const home = { HOME: await testDirectory(), GOOGLE_APPLICATION_CREDENTIALS: undefined, NO_GCE_CHECK: 'true' };
    const without = 'identity: no credentials for gs://exports/b.json: specify a key file';
    await calling({ env: { ...env, ...home } })(`export ${database} --to gs://exports/b.json`, 1, without);
  });

  it.skipIf(process.platform === 'win32')('removes what a full disk has taken of a file', async () => {
    const people = Array.from({ length: 2_000 }, (_, index) => person(`person-${index}`));
    const large = await exportFileWith(organisation('acme', { humanUsers: people }));
    const directory = await testDirectory();
    const target = join(directory, 'out.json');
    // The process's limit for the size of its files simulates a full disk.
    const limited = ['-c', 'ulimit -f 100 && exec "$0" "$@"', ...identityProgram, 'export', large, '--to', target];
    const { code, stderr } = await run('/bin/sh', limited);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        `identity: ${directory} has no space left: [\\d,]+ bytes of ${target} were written: free some space in the directory, or choose another directory; the command has removed the incomplete file\n`,
      ),
    });
    expect(await readdir(directory)).toEqual([]);
  });
});
