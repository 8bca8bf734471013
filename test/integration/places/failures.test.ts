import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { run, startProgram } from '../../../tools/program.ts';
import { identity, identityJson } from '../../support/command.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { startTlsProxy } from '../../support/http/tlsProxy.ts';
import { post } from '../../support/http/wire.ts';
import { emptyExport, startFakeInstance } from '../../support/places/fakeInstance.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { identityProcess, identityProgram } from '../../support/processes/programs.ts';
import { sqlite } from '../../support/stores/stores.ts';

const createdToken = z.looseObject({ tokenId: z.string() });

async function tokenFile(text = 'some-token') {
  const file = join(await testDirectory(), 'token.pat');
  await writeFile(file, text, { mode: 0o600 });
  return file;
}

/** The only line that is no progress. */
function message(stderr: string): string {
  return stderr.split('\n').find((line) => line.startsWith('identity: ')) ?? stderr;
}

describe('a call on places that fails', () => {
  it('explains why a well-formed token is rejected', async () => {
    const { url, location } = await servedPlace(sqlite);
    const options = databaseOptions(location);
    await identity(['service-user', 'create', 'mover', ...options]);
    const user = await userNamed('mover', options);
    const directory = await testDirectory();
    const newFile = async (name: string, now = new Date()) => {
      const file = join(directory, name);
      const create = ['pat', 'create', '--user', user, '--expires', '1h', '--token-file', file];
      return { file, ...createdToken.parse(await identityJson([...create, ...options], { now })) };
    };
    const problem = async (file: string) =>
      (await identity(['export', url, '--token-file', file, '--to', join(directory, 'out.json')])).stderr;
    const expired = await newFile('expired.pat', new Date(Date.now() - 2 * 3_600_000));
    expect(await problem(expired.file)).toContain(
      `rejects the token of --token-file ${expired.file} (it has expired): create another token there`,
    );
    expect((await identity(['pat', 'list', '--user', user, ...options])).stdout).toContain('Z (expired)');
    const revoked = await newFile('revoked.pat');
    await identityJson(['pat', 'revoke', revoked.tokenId, ...options]);
    expect(await problem(revoked.file)).toContain('(it is revoked, or of another instance)');
    const locked = await newFile('locked.pat');
    await identityJson(['user', 'lock', user, ...options]);
    expect(await problem(locked.file)).toContain('(its user is locked, deactivated or deleted)');
  });

  it('reports an unsuitable token, and never prints it', async () => {
    const { url, location } = await servedPlace(sqlite);
    const options = databaseOptions(location);
    await identity(['service-user', 'create', 'weak', ...options]);
    const created = await identityJson(['pat', 'create', '--user', await userNamed('weak', options), ...options]);
    const weak = await tokenFile(JSON.stringify(created).match(/idpat_[\w-]+/)?.[0]);
    const directory = await testDirectory();
    const target = ['--to', join(directory, 'out.json')];
    const wrong = await tokenFile();
    expect(await identity(['export', url, '--token-file', wrong, ...target])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /identity: http\S+ rejects the token of --token-file \S+ \(.+\): check that its user is active, or create another token there, store it alone in a file, and specify it by --token-file\n$/,
      ),
    });
    const forbidden = await identity(['export', url, '--token-file', weak, ...target]);
    expect(message(forbidden.stderr)).toMatch(
      /does not permit this to the token of --token-file \(.+\): use one of a service user with the role IAM_OWNER$/,
    );
    expect(forbidden.code).toBe(1);
    const owner = await userNamed('weak', options);
    await identity(['member', 'add', '--user', owner, '--role', 'IAM_OWNER', ...options]);
    const restricted = await identityJson(['pat', 'create', '--user', owner, '--only', 'import', ...options]);
    const narrow = await tokenFile(JSON.stringify(restricted).match(/idpat_[\w-]+/)?.[0]);
    expect(message((await identity(['export', url, '--token-file', narrow, ...target])).stderr)).toMatch(
      /does not permit this to the token of --token-file \(the token is valid for import only: use one that is valid for export\)$/,
    );
    const invalid = await identity(['export', url, '--token-file', await tokenFile('two words'), ...target]);
    expect(invalid).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/does not contain a token: store the token alone/),
    });
    expect(invalid.stderr).not.toContain('two words');
    for (const content of ['"quoted"', '{"token":"in-json"}', 'Bearer with-scheme', ''])
      expect(await identity(['export', url, '--token-file', await tokenFile(content), ...target])).toMatchObject({
        code: 64,
        stderr: expect.stringMatching(/does not contain a token: store the token alone/),
      });
    const missing = await identity(['export', url, ...target]);
    const remedy = `missing option --token-file: the file with the token for ${url}`;
    expect(missing).toMatchObject({ code: 64, stderr: `identity: ${remedy}\n` });
    expect(await readdir(directory)).toEqual([]);
  });

  it('reports that the place is unreachable, or another service', async () => {
    const token = await tokenFile();
    const target = ['--token-file', token, '--to', join(await testDirectory(), 'out.json')];
    const closed = await identity(['export', 'http://127.0.0.1:9', ...target]);
    expect(closed.code).toBe(1);
    expect(message(closed.stderr)).toBe(
      'identity: http://127.0.0.1:9 cannot be reached (ECONNREFUSED): check the address, and that the instance runs',
    );
    const bucket = await startLocalBucket();
    onTestFinished(() => bucket.close());
    const foreign = await identity(['export', bucket.url, ...target]);
    expect(foreign.code).toBe(1);
    expect(message(foreign.stderr)).toMatch(/is not an instance of this service \(\/openapi\.json returns 40\d\)/);
  });

  describe('by TLS', () => {
    const fixture = (name: string) => new URL(`../../fixtures/tls/${name}`, import.meta.url).pathname;
    const inspect = async (url: string, token: string, env = {}) => {
      const { code, stderr } = await identityProcess(['inspect', url, '--token-file', token], { env });
      return { code, message: message(stderr) };
    };

    it('names an untrusted certificate, a port that expects TLS, and one without', async () => {
      const plain = await servedPlace(sqlite);
      const encrypted = { url: await startTlsProxy(plain.url) };
      const token = await tokenFile();
      const failed = (problem: string) => ({ code: 1, message: `identity: ${problem}` });
      const { host } = new URL(encrypted.url);
      const { host: plainHost } = new URL(plain.url);
      expect(await inspect(encrypted.url, token)).toEqual(
        failed(
          `the certificate of ${encrypted.url} is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT): correct it there, or set NODE_EXTRA_CA_CERTS to the PEM file of its authority`,
        ),
      );
      expect(await inspect(`http://${host}`, token)).toEqual(
        failed(`http://${host} expects TLS: specify https://${host}`),
      );
      expect(await inspect(`https://${plainHost}`, token)).toEqual(
        failed(`https://${plainHost} does not use TLS: specify its TLS port, or on this machine http://${plainHost}`),
      );
    });

    it("trusts the authorities of NODE_EXTRA_CA_CERTS and the system's", async () => {
      const { url: plain, tokenFile: token } = await servedPlace(sqlite);
      const url = await startTlsProxy(plain);
      const trusted = expect.objectContaining({ code: 0 });
      const authority = fixture('first.crt');
      expect(await inspect(url, token, { NODE_EXTRA_CA_CERTS: authority })).toEqual(trusted);
      expect(await inspect(url, token, { SSL_CERT_FILE: authority })).toEqual(trusted);
    });
  });

  it('leaves nothing under the name of a file whose source breaks off or sends no export', async () => {
    const broken = await startFakeInstance((response) => {
      response.write('{"orgs":[{"orgId":"1",', () => response.destroy());
    });
    const short = await startFakeInstance((response) => void response.end('{"orgs":[{"orgId":"1"}]'));
    const directory = await testDirectory();
    const target = ['--token-file', await tokenFile(), '--to', join(directory, 'out.json.gz')];
    const first = await identity(['export', broken.url, ...target]);
    expect(first.code).toBe(1);
    expect(message(first.stderr)).toBe(
      `identity: ${broken.url} failed: the connection broke during its export (ECONNRESET): repeat the command`,
    );
    const second = await identity(['export', short.url, ...target]);
    expect(second.code).toBe(1);
    expect(message(second.stderr)).toBe(
      `identity: ${short.url} returned a damaged export (orgs: unexpected end of JSON input: the file is truncated; content type: none): check that the address leads to the instance, and that no gateway answers in its place, or cuts or changes responses, then repeat the command`,
    );
    expect(await readdir(directory)).toEqual([]);
  });

  it('does not import what a source has not sent completely', async () => {
    const { url, tokenFile: to, database } = await servedPlace(sqlite);
    let calls = 0;
    const cut = await startFakeInstance((response) => {
      const isTrial = calls++ % 2 === 0;
      if (isTrial) return void response.end(emptyExport);
      const text = JSON.stringify({ orgs: [organisation('half', { humanUsers: [person('ada')] })] });
      response.write(text.slice(0, -10), () => response.destroy());
    });
    const source = ['import', cut.url, '--from-token-file', await tokenFile()];
    for (const target of [[url, '--to-token-file', to], [database]]) {
      const { code, stderr } = await identity([...source, '--to', ...target]);
      expect({ code, message: message(stderr) }).toEqual({
        code: 1,
        message: expect.stringContaining(`${cut.url} failed: the connection broke during its export`),
      });
    }
    const after = await identity(['export', database, '--to', '-', '--org', 'half']);
    expect(after).toMatchObject({ code: 64, stderr: expect.stringContaining('does not have half: correct --org') });
  });

  it('cancels the request at Ctrl-C, and reports what remains', async () => {
    const waiting = await startFakeInstance((response) => void response.write('{"orgs":['));
    const directory = await testDirectory();
    const target = join(directory, 'out.json');
    const token = await tokenFile();
    const [command, script] = identityProgram;
    const args = [script, 'export', waiting.url, '--org', 'acme', '--token-file', token, '--to', target, '--json'];
    const exporting = await startProgram(command, args, /"event":"progress"/);
    const { code, stderr } = await exporting.stop('SIGINT');
    expect({ code, stderr }).toEqual({
      code: 130,
      stderr: `identity: interrupted: nothing is left in ${target}; repeat the command\n`,
    });
    await waiting.clientLeft;
    expect(await readdir(directory)).toEqual([]);
    const file = join(directory, 'in.json');
    await writeFile(file, JSON.stringify({ orgs: [organisation('acme')] }));
    const stuck = await startFakeInstance(() => {});
    const importing = [script, 'import', file, '--to', stuck.url, '--token-file', token, '--json'];
    const ended = await (await startProgram(command, importing, /"event":"progress"/)).stop('SIGINT');
    expect(ended).toMatchObject({
      code: 130,
      stderr: `identity: interrupted: ${stuck.url} had reported no record; what it has written, if anything, remains; repeat the command\n`,
    });
    await stuck.clientLeft;
  });

  it('reports the place of a file that a target rejects', async () => {
    const { url, tokenFile: token, database } = await servedPlace(sqlite);
    const file = join(await testDirectory(), 'invalid.json');
    await writeFile(file, JSON.stringify({ orgs: ['A', 'B'].map((name) => ({ orgId: 'acme', org: { name } })) }));
    for (const target of [[url, '--token-file', token], [database]]) {
      const { code, stderr } = await identity(['import', file, '--to', ...target]);
      expect(code, stderr).toBe(1);
      expect(message(stderr)).toBe(
        `identity: ${target[0]} refuses ${file}: orgs[1].org: contradicts orgs[0].org: remove one of them`,
      );
    }
  });

  it('reports every field that a target rejects, in plain words', async () => {
    const { url, tokenFile: token, database } = await servedPlace(sqlite);
    const file = join(await testDirectory(), 'invalid.json');
    const profile = { firstName: '', lastName: 'Lovelace' };
    const people = ['a', 'b'].map((userId) => ({ userId, user: { userName: userId, profile, email: {} } }));
    await writeFile(file, JSON.stringify({ orgs: [organisation('acme', { humanUsers: people })] }));
    for (const target of [[url, '--token-file', token], [database]]) {
      const { code, stdout } = await identity(['import', file, '--to', ...target]);
      expect(code, stdout).toBe(3);
      for (const [index, { userId }] of people.entries()) {
        const place = `orgs[0].humanUsers[${index}].user`;
        expect(stdout).toContain(`person ${userId}: `);
        expect(stdout).toContain(`${place}.profile.firstName: missing or empty: expected 1 to 200 characters; `);
        expect(stdout).toContain(`${place}.email.email: missing or empty: expected an e-mail address, such as `);
      }
    }
  });

  it('exits with 3 if records could not be imported', async () => {
    const { url, token, tokenFile: file, database } = await servedPlace(sqlite);
    const orgs = [organisation('acme', { humanUsers: [person('ada')] })];
    await post({ url, token, database: undefined }, 'import', { data_orgs: { orgs } });
    const other = join(await testDirectory(), 'other.json');
    const changed = [organisation('acme', { humanUsers: [person('ada', { userName: 'other' })] })];
    await writeFile(other, JSON.stringify({ orgs: changed }));
    for (const target of [[url, '--token-file', file], [database]]) {
      const { code, stdout } = await identity(['import', other, '--to', ...target, '--dry-run']);
      expect(code).toBe(3);
      expect(stdout).toContain(`tried an import into ${target[0]}, nothing is written, with 1 error\n`);
      expect(stdout).toContain('failed: people 1\n\nErrors\n  person ada: exists with other content');
    }
    const overwriting = await identity(['import', other, '--to', database, '--on-conflict', 'overwrite']);
    expect(overwriting).toMatchObject({ code: 0, stdout: expect.stringContaining('overwritten: people 1') });
  });

  it('reports a missing bucket, an existing object and missing credentials', async () => {
    const { database } = await servedPlace(sqlite);
    const bucket = await startLocalBucket();
    onTestFinished(() => bucket.close());
    const env = { STORAGE_EMULATOR_HOST: bucket.url };
    const call = async (target: string) => {
      const args = ['export', database, '--to', target, '--credentials-file', bucket.keyFile];
      const { code, stderr } = await identity(args, { env });
      return [code, message(stderr)];
    };
    expect(await call('gs://nowhere/a.json')).toEqual([
      64,
      'identity: gs://nowhere/a.json: the bucket nowhere does not exist: check its name',
    ]);
    expect((await call('gs://exports/a.json'))[0]).toBe(0);
    expect(await call('gs://exports/a.json')).toEqual([
      1,
      'identity: gs://exports/a.json: the object exists and is never overwritten: choose another path',
    ]);
    const environment = { ...env, HOME: await testDirectory(), GOOGLE_APPLICATION_CREDENTIALS: undefined };
    const without = await identity(['export', database, '--to', 'gs://exports/b.json'], {
      env: { ...environment, NO_GCE_CHECK: 'true' },
    });
    expect(without.code).toBe(1);
    expect(message(without.stderr)).toMatch(
      /^identity: no credentials for gs:\/\/exports\/b\.json: specify a key file/,
    );
  });

  it.skipIf(process.platform === 'win32')('removes what a full disk has taken of a file', async () => {
    const { database } = await servedPlace(sqlite);
    const large = join(await testDirectory(), 'large.json');
    const people = Array.from({ length: 2_000 }, (_, index) => person(`person-${index}`));
    await writeFile(large, JSON.stringify({ orgs: [organisation('acme', { humanUsers: people })] }));
    expect(await identity(['import', large, '--to', database])).toMatchObject({ code: 0 });
    const directory = await testDirectory();
    const target = join(directory, 'out.json');
    // The limit of a process for its files' sizes stands for the disk's.
    const limited = ['-c', 'ulimit -f 100 && exec "$0" "$@"', ...identityProgram, 'export', large, '--to', target];
    const { code, stderr } = await run('/bin/sh', limited);
    expect({ code, message: message(stderr) }).toEqual({
      code: 1,
      message: expect.stringMatching(
        `^identity: no space left in ${directory} after [\\d,]+ bytes of ${target}: free some there, or choose another directory; nothing is left there$`,
      ),
    });
    expect(await readdir(directory)).toEqual([]);
    expect((await readFile(large)).length).toBeGreaterThan(100 * 512);
  });
});

async function userNamed(name: string, options: readonly string[]): Promise<string> {
  const { stdout } = await identity(['user', 'list', ...options]);
  return (
    stdout
      .split('\n')
      .find((line) => line.split('\t').includes(name))
      ?.split('\t')[0] ?? ''
  );
}
