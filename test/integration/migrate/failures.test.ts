import { copyFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { run, startProgram } from '../../../tools/program.ts';
import { identity, identityJson, identityResult } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { startTcpProxy, type TcpProxy } from '../../support/http/tcpProxy.ts';
import { betweenServers, exportFileWith, readResult } from '../../support/migrations/migrating.ts';
import { restartablePlace } from '../../support/migrations/restartablePlace.ts';
import { startFakeInstance } from '../../support/places/fakeInstance.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { loggedPlace, type ServedPlace, servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { sqlite } from '../../support/stores/stores.ts';

const users = z.looseObject({ users: z.array(z.looseObject({ userId: z.string() })) });
const newToken = z.looseObject({ token: z.string(), tokenId: z.string() });
const [command, script] = identityProgram;

/** No secrets move. */
const none = ['--with', 'none'];

/** The line that says what is wrong. */
function message(stderr: string): string {
  return stderr.split('\n').find((line) => line.startsWith('identity: ')) ?? stderr;
}

/** Creates another token of an instance's owner, and the file that holds it. */
async function newTokenFile({ location }: ServedPlace, ...restriction: string[]) {
  const options = databaseOptions(location);
  const [owner] = users.parse(await identityJson(['user', 'list', ...options])).users;
  const created = newToken.parse(
    await identityJson(['pat', 'create', '--user', owner?.userId ?? '', ...restriction, ...options]),
  );
  const file = join(await testDirectory(), 'other.pat');
  await writeFile(file, created.token, { mode: 0o600 });
  return { file, tokenId: created.tokenId };
}

async function filledPlace(count = 2) {
  const place = await restartablePlace(sqlite);
  const people = Array.from({ length: count }, (_, index) => person(`person-${index}`));
  const file = await exportFileWith(organisation('acme', { humanUsers: people }));
  expect((await identity(['import', file, '--to', place.database])).code).toBe(0);
  return place;
}

/** More than a migration sends before its export, and less than an export of 8,000 people. */
const BEFORE_EXPORT = 100_000;
/** The head and about one event of the response to an import, which has several events and a result. */
const BEGUN = 600;

/** Migrates 8,000 people until their import has begun. Its response is held back, so that it cannot have ended. */
async function heldImport(south: ServedPlace, more: readonly string[] = []) {
  const north = await filledPlace(8_000);
  const network = await startTcpProxy(south.url);
  onTestFinished(() => network.close());
  const args = ['migrate', ...betweenServers(north, { ...south, url: network.url }), ...none, ...more];
  expect((await identity([...args, '--dry-run'])).code).toBe(0);
  // The migration sends as much for its own plan, and then the export once more.
  network.stallResponse(network.bytes('up') + BEFORE_EXPORT, BEGUN);
  const held = network.struck();
  const running = await startProgram(command, [script, ...args, '--yes', '--json'], /^/);
  await held;
  return { running, args, network };
}

/** Breaks the connection that is held back, and accepts others. */
async function reconnect(network: TcpProxy): Promise<void> {
  await network.refuse();
  await network.accept();
}

describe('a migration', () => {
  it('does not begin with a wrong call, and leaves nothing then', async () => {
    const cwd = await testDirectory();
    const call = async (...args: string[]) => {
      const { code, stderr } = await identity(['migrate', ...args], { cwd });
      return { code, message: stderr };
    };
    const same = ['--from', 'sqlite:a', '--to', 'sqlite:../a'];
    const choices = 'specify the secrets to move: some of passwords,otp,keys, or all, or none';
    for (const more of [[], ['--yes'], ['--json'], ['--dry-run']])
      expect(await call(...same, ...more)).toEqual({
        code: 64,
        message: `identity: missing option --with: ${choices}\n`,
      });
    expect(await call(...same, '--with', 'all,otp')).toEqual({
      code: 64,
      message: `identity: invalid --with all,otp: ${choices.replace('the secrets to move: ', '')}\n`,
    });
    expect(await call('--from', 'sqlite:a')).toEqual({
      code: 64,
      message: 'identity: missing option --to: run identity migrate --help\n',
    });
    expect(await call('--from', 'sqlite:a', '--to', 'sqlite:./b/../a', ...none)).toEqual({
      code: 64,
      message: expect.stringMatching(/is both the source and the target: specify two places\n$/),
    });
    const north = await servedPlace(sqlite);
    const link = join(await testDirectory(), 'link');
    await symlink(north.database.replace('sqlite:', ''), link);
    const tokens = ['--from-token-file', north.tokenFile, '--to-token-file', north.tokenFile];
    for (const verb of ['migrate', 'import'])
      for (const [from, to, ...more] of [
        [north.database, `sqlite:${link}`],
        ['https://NORTH.example:443', 'https://north.example/', ...tokens],
      ]) {
        const args =
          verb === 'import' ? [from ?? '', '--to', to ?? ''] : ['--from', from ?? '', '--to', to ?? '', ...none];
        const { code, stderr } = await identity([verb, ...args, ...more], { cwd });
        expect({ code, stderr }).toEqual({
          code: 64,
          stderr: expect.stringContaining(' is both the source and the target'),
        });
      }
    const unreadable = '- (standard input or output) cannot be read again: specify a file instead';
    expect((await call('--from', 'sqlite:a', '--to', '-', ...none)).message).toContain(unreadable);
    expect((await call('--from', '-', '--to', 'sqlite:a', ...none)).message).toContain(unreadable);
    expect((await call('--from', '-', '--to', 'sqlite:a', '--yes')).message).toContain(unreadable);
    const both = await call(...same, ...none, '--dry-run', '--expect', '0'.repeat(64));
    expect(both).toEqual({
      code: 64,
      message: 'identity: --dry-run makes the digest that --expect takes: specify one\n',
    });
    expect((await call(...same, ...none, '--report', 'report.pdf')).message).toContain(
      'specify FILE.html or FILE.json',
    );
    expect((await call(...same, ...none)).message).toMatch(
      /no instance in .*: check the path, or create an instance with identity init/,
    );
    expect(await readdir(cwd)).toEqual([]);
  });

  it('reports an unsuitable token before it reads the source', async () => {
    const [north, south] = [await filledPlace(), await servedPlace(sqlite)];
    const narrow = await newTokenFile(south, '--only', 'import');
    const wrong = join(await testDirectory(), 'wrong.pat');
    await writeFile(wrong, 'some-token', { mode: 0o600 });
    const call = async (file: string) => {
      const tokens = ['--from-token-file', north.tokenFile, '--to-token-file', file];
      const places = ['--from', north.url, '--to', south.url];
      const { code, stderr } = await identity(['migrate', ...places, ...tokens, ...none]);
      expect(stderr).not.toContain('exporting');
      return { code, message: message(stderr) };
    };
    expect(await call(wrong)).toEqual({
      code: 1,
      message: expect.stringContaining(`${south.url} rejects the token of --to-token-file`),
    });
    expect(await call(narrow.file)).toEqual({
      code: 1,
      message: `identity: the token for ${south.url} does not permit exports: use one of a service user with the role IAM_OWNER that is not restricted to other operations`,
    });
  });

  it('asks for permissions by calls that succeed, and a source for no import', async () => {
    const [north, south] = [await loggedPlace(sqlite), await loggedPlace(sqlite)];
    const { file } = await newTokenFile(north, '--only', 'export');
    const tokens = ['--from-token-file', file, '--to-token-file', south.tokenFile];
    const places = ['--from', north.url, '--to', south.url];
    const args = ['migrate', ...places, ...tokens, ...none];
    expect(await identity(args)).toMatchObject({ code: 0 });
    const [called, exported, imported] = ['/openapi.json 200', '/admin/v1/export 200', '/admin/v1/import 200'];
    await expect.poll(() => new Set(north.requests())).toEqual(new Set([called, exported]));
    await expect.poll(() => new Set(south.requests())).toEqual(new Set([called, exported, imported]));
  });

  it('prints its plan and exits with 2 without a terminal, and then the printed command migrates', async () => {
    const [north, south] = [await filledPlace(), await servedPlace(sqlite)];
    const args = ['migrate', ...betweenServers(north, south), ...none];
    const cwd = await testDirectory();
    const { code, stdout } = await identity(args, { cwd });
    expect(code, stdout).toBe(2);
    expect(stdout).toContain('acme (Organisation acme): 3 records, 2 people: 3 not there\n');
    expect(stdout).not.toContain('Cloud Functions');
    expect(stdout).toContain(`Left out\n  ${north.orgId}: the default organisation of the source`);
    const [, next = ''] =
      /\n\nNothing is changed: migrate with\n {2}(identity migrate .+ --expect [0-9a-f]{64} --yes)\n$/.exec(stdout) ??
      [];
    const untouched = await identity(['export', south.database, '--to', '-', '--org', 'acme']);
    expect(untouched.stderr).toContain('does not have acme: correct --org');
    const dry = await identity([...args, '--dry-run'], { cwd });
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing is changed: migrate with') });
    expect(await readdir(cwd)).toEqual([]);
    const migrated = await identity(next.replaceAll("'", '').split(' ').slice(1));
    expect(migrated, migrated.stderr).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('\n  3 records equal'),
    });
  });

  it('counts a record to which the target has added a factor as unchanged, in the import and in the proof', async () => {
    const south = await servedPlace(sqlite);
    const fuller = organisation('acme', { humanUsers: [{ ...person('ada'), otpEmail: true }, person('bob')] });
    const changed = organisation('acme', { humanUsers: [person('ada'), person('bob', { userName: 'robert' })] });
    expect((await identity(['import', await exportFileWith(fuller), '--to', south.database])).code).toBe(0);
    const migrate = ['migrate', '--from', await exportFileWith(changed), '--to', south.database, '--with', 'otp'];
    const found = { equal: 1, different: 1, differentAsExpected: 1 };
    const planned = await identityResult([...migrate, '--dry-run']);
    const { code, stdout, stderr } = await identity([...migrate, '--yes']);
    expect(code, stderr).toBe(3);
    expect(planned).toMatchObject({ before: found, organisations: [{ before: found }] });
    expect(stderr).toMatch(/^1 organisation with 3 records: 1 equal, 1 different, 1 different as expected$/m);
    expect(stderr).toContain('3 records, 2 people: 1 equal, 1 different, 1 different as expected\n');
    const error = 'person bob: exists with other content';
    for (const text of [stdout, stderr])
      expect(text.match(/\nErrors\n(?: {2}.*\n)+/g)).toEqual([expect.stringContaining(error)]);
    expect(stdout).toMatch(
      /^Finished with 1 difference and 1 error, and nothing written: 3 records of 1 organisation: 2 unchanged, 1 failed\n/,
    );
    expect(stdout).toContain('  1 record equal, 1 differ as expected, 1 differ\n');
    expect(stdout).toContain(
      'person ada (name of ada) of acme (Organisation acme): otpEmail: (absent) | true (unchanged: the target has more',
    );
  });

  it('has nothing to confirm, and no digest, if nothing moves', async () => {
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    const migrate = ['migrate', '--from', north.database, '--to', south.database, ...none];
    const planned = await identity([...migrate, '--dry-run']);
    expect(planned, planned.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nothing to move: /) });
    expect(planned.stdout).not.toMatch(/--expect|[0-9a-f]{64}|0 records|with a password/);
    const migrated = await identity([...migrate, '--json']);
    expect(migrated.code, migrated.stderr).toBe(0);
    expect(migrated.stdout).not.toMatch(/"next"|"digest"|"event":"plan"/);
  });

  it('exits with 3 if records could not be imported, and with 0 if that was requested', async () => {
    const [north, south] = [await filledPlace(), await servedPlace(sqlite)];
    const other = await exportFileWith(
      organisation('acme', { humanUsers: [person('person-0', { userName: 'other' })] }),
    );
    expect((await identity(['import', other, '--to', south.database])).code).toBe(0);
    const between = ['migrate', ...betweenServers(north, south), ...none, '--yes', '--json'];
    const reported = await identity(between);
    expect(reported.code, reported.stderr).toBe(3);
    expect(reported.stdout).toMatch(/^\{"event":"plan".*"different":1/m);
    expect(readResult(reported.stdout)).toMatchObject({
      outcome: 'listed',
      errors: [{ type: 'human_user', id: 'person-0' }],
      proof: {
        unexpected: 1,
        differences: [{ outcome: 'different', id: 'person-0', fields: [{ path: 'user.userName' }] }],
      },
    });
    const trying = ['migrate', '--dry-run', ...betweenServers(north, south), ...none, '--on-conflict', 'skip'];
    const { stdout: plan } = await identity(trying);
    expect(plan).toMatch(/\nWarnings\n(?: {2}.*\n)*? {2}1 record exists with other content: they stay\n/);
    expect(plan).not.toContain('\nErrors\n');
    const skipped = await identity([...between, '--on-conflict', 'skip']);
    expect(skipped.code, skipped.stderr).toBe(0);
    expect(readResult(skipped.stdout).proof).toMatchObject({
      expected: 1,
      unexpected: 0,
      differences: [{ id: 'person-0', reason: expect.stringContaining('--on-conflict skip keeps') }],
    });
    const overwritten = await identity([...between, '--on-conflict', 'overwrite']);
    expect(readResult(overwritten.stdout)).toMatchObject({ outcome: 'done', proof: { expected: 0, unexpected: 0 } });
  });

  it('stops with the command to run again if a token expires, and moves the rest then', async () => {
    const south = await servedPlace(sqlite);
    const { file, tokenId } = await newTokenFile(south);
    const { running, args, network } = await heldImport({ ...south, tokenFile: file });
    await identityJson(['pat', 'revoke', tokenId, ...databaseOptions(south.location)]);
    await reconnect(network);
    const { code, stderr } = await running.ended();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /rejects the token of --to-token-file \S+ \(it is revoked, .+\): create another token there, .+; http:\S+ had reported no record; what it has written, if anything, remains; run the same command again: identity migrate --from .+ --yes\n$/,
      ),
    });
    await copyFile(south.tokenFile, file);
    const again = await identity([...args, '--yes']);
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout).toContain('8,001 records equal');
  });

  it('is interrupted by Ctrl-C before its import, and says that nothing is changed', async () => {
    const [north, south] = [await filledPlace(), await restartablePlace(sqlite)];
    const network = await startTcpProxy(south.url);
    onTestFinished(() => network.close());
    const args = ['migrate', ...betweenServers(north, { ...south, url: network.url }), ...none, '--yes'];
    network.stall('up', 1);
    const running = await startProgram(command, [script, ...args], /^/);
    await network.struck();
    const ended = await running.stop('SIGINT');
    expect(ended).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/identity: interrupted: nothing was changed; repeat the command\n$/),
    });
    await reconnect(network);
    expect((await identity(args)).code).toBe(0);
  });

  it('is interrupted by Ctrl-C during its import, says how far it came, and is repeated', async () => {
    const { running, args, network } = await heldImport(await servedPlace(sqlite));
    const ended = await running.stop('SIGINT');
    expect(ended).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(
        /identity: interrupted: http:\S+ had reported no record; what it has written, if anything, remains; run the same command again: identity migrate --from .+ --yes\n$/,
      ),
    });
    await reconnect(network);
    const { code, stdout, stderr } = await identity([...args, '--yes', '--json']);
    expect(code, stderr).toBe(0);
    const { phases, moved } = readResult(stdout);
    const importing = phases.filter(({ phase }) => phase === 'importing');
    expect(importing).toMatchObject([{ records: 8_001, succeeded: true }]);
    const { created, unchanged: equal } = moved.imported ?? {};
    expect((created?.humanUsers ?? 0) + (equal?.humanUsers ?? 0)).toBe(8_000);
  });

  it('asks for a new dry run after an interruption with --expect', async () => {
    const south = await servedPlace(sqlite);
    const north = await filledPlace(8_000);
    const network = await startTcpProxy(south.url);
    onTestFinished(() => network.close());
    const args = ['migrate', ...betweenServers(north, { ...south, url: network.url }), ...none];
    const { digest } = z.looseObject({ digest: z.string() }).parse(await identityResult([...args, '--dry-run']));
    network.stallResponse(network.bytes('up') + BEFORE_EXPORT, BEGUN);
    const held = network.struck();
    const running = await startProgram(command, [script, ...args, '--expect', digest, '--yes'], /^/);
    await held;
    const { stderr } = await running.stop('SIGINT');
    expect(stderr).toMatch(
      /what it has written, if anything, remains; make a new dry run: identity migrate --from .+ --dry-run\n$/,
    );
    expect(stderr.slice(stderr.indexOf('make a new dry run'))).not.toContain('--expect');
    await reconnect(network);
    expect((await identity([...args, '--yes'])).code).toBe(0);
  });

  it('leaves nothing if it is interrupted before its plan', async () => {
    const asked = Promise.withResolvers<void>();
    const waiting = await startFakeInstance(() => asked.resolve());
    const token = join(await testDirectory(), 'some.pat');
    await writeFile(token, 'some-token', { mode: 0o600 });
    const places = ['--from', waiting.url, '--token-file', token, '--to', join(await testDirectory(), 'copy.json')];
    const running = await startProgram(command, [script, 'migrate', ...places, ...none], /^/);
    await asked.promise;
    expect(await running.stop('SIGINT')).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/identity: interrupted: nothing was changed; repeat the command\n$/),
    });
    await waiting.clientLeft;
  });

  it.each([
    ['', []],
    [', with --on-conflict fail', ['--on-conflict', 'fail']],
  ])('continues by itself after the target was killed during the import, and is back%s', async (_with, more) => {
    const south = await restartablePlace(sqlite);
    const { running, network } = await heldImport(south, more);
    await south.kill();
    await south.start();
    await reconnect(network);
    const { code, stdout, stderr } = await running.ended();
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('"event":"retry"');
    const { moved, phases } = readResult(stdout);
    const { created, unchanged: equal } = moved.imported ?? {};
    expect((created?.humanUsers ?? 0) + (equal?.humanUsers ?? 0)).toBe(8_000);
    expect(phases.at(-1)?.phase).not.toBe('importing');
    const importing = phases.findLast(({ phase }) => phase === 'importing');
    expect(importing).toMatchObject({ records: 8_001, succeeded: true });
    const { perSecond, seconds = 0, unchanged = 0 } = importing ?? {};
    expect(perSecond).toBeCloseTo(seconds === 0 ? 0 : (8_001 - unchanged) / seconds, 0);
  });

  it('continues by itself after the connection broke while it sent the export', async () => {
    const [north, south] = [await filledPlace(8_000), await servedPlace(sqlite)];
    const proxy = await startTcpProxy(south.url);
    onTestFinished(() => proxy.close());
    const args = ['migrate', ...betweenServers(north, { ...south, url: proxy.url }), ...none];
    expect((await identity([...args, '--dry-run'])).code).toBe(0);
    proxy.cut('up', proxy.bytes('up') + BEFORE_EXPORT);
    const migrated = await identity([...args, '--yes']);
    expect(migrated.code, migrated.stderr).toBe(0);
    expect(migrated.stderr).toContain('the connection was lost: trying again in 1 s\n');
    expect(migrated.stdout).toContain('8,001 records equal');
  });

  it('reports that the target is lost during the import, and moves the rest when it is back', async () => {
    const south = await restartablePlace(sqlite);
    const { running, args, network } = await heldImport(south, ['--timeout', '20s']);
    await south.kill();
    await network.refuse();
    const { code, stderr } = await running.ended();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /what it has written, if anything, remains; run the same command again: identity migrate .+--timeout 20s.*\n$/,
      ),
    });
    await south.start();
    await network.accept();
    const again = await identity([...args.slice(0, -2), '--yes']);
    expect(again.code, again.stderr).toBe(0);
  });

  it('recommends a longer --timeout if that ends the trial import', async () => {
    const south = await servedPlace(sqlite);
    const people = Array.from({ length: 3_000 }, (_, index) => person(`person-${index}`));
    const from = await exportFileWith(organisation('acme', { humanUsers: people }));
    const network = await startTcpProxy(south.url);
    onTestFinished(() => network.close());
    const to = ['--to', network.url, '--to-token-file', south.tokenFile];
    const args = ['migrate', '--from', from, ...to, ...none, '--dry-run'];
    expect((await identity(args)).code).toBe(0);
    // Most of these bytes are the file in the trial import.
    network.stall('up', network.bytes('up') / 2);
    const { code, stderr } = await identity([...args, '--timeout', '5s']);
    expect(code).toBe(1);
    expect(message(stderr)).toBe(
      `identity: ${network.url} failed: context deadline exceeded; nothing is changed in ${network.url}; --timeout 5s is too short: specify a longer time, or none: identity migrate --from ${from} --to '${network.url}' --to-token-file ${south.tokenFile} --with none --dry-run`,
    );
  });

  it('reports that the target does not respond, and gives up', async () => {
    const [north, south] = [await filledPlace(), await restartablePlace(sqlite)];
    south.signal('SIGSTOP');
    const { code, stderr } = await identity(['migrate', ...betweenServers(north, south), ...none, '--yes']);
    south.signal('SIGCONT');
    expect(code).toBe(1);
    expect(stderr).toContain(`waiting for ${south.url} to respond\n`);
    expect(message(stderr)).toBe(
      `identity: ${south.url} did not respond to GET /openapi.json within 30 s: check that it and its database run, and are not overloaded`,
    );
  });

  it.skipIf(process.platform === 'win32')('reports a full disk, and migrates when there is space', async () => {
    const [north, south] = [await filledPlace(4_000), await servedPlace(sqlite)];
    const args = ['migrate', ...betweenServers(north, south), ...none, '--yes'];
    // The limit of a process for its files' sizes stands for the disk's.
    const limited = ['-c', 'ulimit -f 40 && exec "$0" "$@"', ...identityProgram, ...args];
    const directory = await testDirectory();
    const { code, stderr } = await run('/bin/sh', limited, {
      env: { NODE_COMPILE_CACHE: undefined, TMPDIR: directory },
    });
    expect({ code, message: message(stderr) }).toEqual({
      code: 1,
      message: `identity: no space left for a temporary file in ${directory}: free some, or set TMPDIR to another directory`,
    });
    expect(await readdir(directory)).toEqual([]);
    expect((await identity(args)).code).toBe(0);
  });

  it('names with --on-conflict fail the organisations that an earlier run created, and the command that continues', async () => {
    const [north, south] = [await filledPlace(), await servedPlace(sqlite)];
    const file = await exportFileWith(organisation('acme'));
    expect((await identity(['import', file, '--to', south.database])).code).toBe(0);
    const args = ['migrate', ...betweenServers(north, south), ...none, '--on-conflict', 'fail', '--yes'];
    const { code, stderr } = await identity(args);
    const problem = `${south.url} has 1 organisation of the export: acme; nothing is changed there`;
    expect({ code, message: message(stderr) }).toEqual({
      code: 1,
      message: expect.stringContaining(
        `identity: ${problem}; exclude them with --exclude-org, or continue an interrupted migration with identity migrate `,
      ),
    });
    const [, next = ''] =
      /, or continue an interrupted migration with (identity migrate .+ --yes)\n/.exec(stderr) ?? [];
    expect(next).not.toContain('--on-conflict');
    const continued = await identity(next.replaceAll("'", '').split(' ').slice(1));
    expect(continued.code, continued.stderr).toBe(0);
  });

  it('lists with --on-conflict fail all existing organisations before it reads their records', async () => {
    const { database } = await servedPlace(sqlite);
    const orgs = Array.from({ length: 22 }, (_, index) => organisation(`org-${index + 10}`));
    const from = await exportFileWith(...orgs);
    expect((await identity(['import', from, '--to', database])).code).toBe(0);
    const args = ['migrate', '--from', from, '--to', database, ...none, '--on-conflict', 'fail', '--yes'];
    const { code, stderr } = await identity(args);
    const ids = Array.from({ length: 10 }, (_, index) => `org-${index + 10}`).join(', ');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(
        `${database} has 22 organisations of the export: ${ids}, and 12 more; nothing is`,
      ),
    });
    expect(stderr).toContain(`Existing organisations in ${database}\n  org-10 (Organisation org-10)\n`);
    expect(stderr).toContain('\n  2 more organisations; --json lists them\n');
    expect(stderr).not.toContain(`comparing ${database}`);
    const { stdout } = await identity([...args, '--json']);
    const existing = orgs.map(({ orgId }) => ({ orgId, name: `Organisation ${orgId}` }));
    expect(stdout.split('\n')).toContain(JSON.stringify({ event: 'existing', existing }));
  });

  it('names an invalid record in the plan, the errors and the proof, and moves the others', async () => {
    const south = await servedPlace(sqlite);
    const file = await exportFileWith(organisation('acme', { humanUsers: [{ userId: 'ada' }, person('bob')] }));
    const error = { type: 'human_user', id: 'ada', message: 'orgs[0].humanUsers[0].user: missing' };
    for (const to of [south.database, join(await testDirectory(), 'copy.json')]) {
      const call = ['--from', file, '--to', to, ...none];
      const plan = await identityResult(['migrate', '--dry-run', ...call]);
      expect(plan).toMatchObject({ refused: [error] });
      const result = await identityResult(['migrate', ...call, '--yes']);
      expect(result).toMatchObject({ code: 3, errors: [error] });
      if (to === south.database)
        expect(result).toMatchObject({ proof: { differences: [{ outcome: 'onlySource', id: 'ada' }] } });
    }
  });
});
