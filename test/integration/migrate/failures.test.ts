import { copyFile, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { run, startProgram } from '../../../tools/program.ts';
import { call, calling, identityJson, identityResult } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { startTcpProxy, type TcpProxy } from '../../support/http/tcpProxy.ts';
import { betweenServers, exportFileWith, readResult } from '../../support/migrations/migrating.ts';
import { restartablePlace } from '../../support/migrations/restartablePlace.ts';
import { databaseOptions } from '../../support/places/locations.ts';
import { loggedPlace, type ServedPlace, servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { tokenFileWith } from '../../support/zitadel/placeOfZitadel.ts';

const users = z.looseObject({ users: z.array(z.looseObject({ userId: z.string() })) });
const newToken = z.looseObject({ token: z.string(), tokenId: z.string() });
const [command, script] = identityProgram;

/** Creates another token of an instance's owner, and the file that holds it. */
async function newTokenFile({ location }: ServedPlace, ...restriction: string[]) {
  const options = databaseOptions(location);
  const [owner] = users.parse(await identityJson(['user', 'list', ...options])).users;
  const create = ['pat', 'create', '--user', owner?.userId ?? '', ...restriction, ...options];
  const { token, tokenId } = newToken.parse(await identityJson(create));
  return { file: await tokenFileWith(token), tokenId };
}

const crowdFile = (count: number) =>
  exportFileWith(
    organisation('acme', { humanUsers: Array.from({ length: count }, (_, index) => person(`person-${index}`)) }),
  );

async function filledPlace(count = 2) {
  const place = await restartablePlace(sqlite);
  await call(`import ${await crowdFile(count)} --to ${place.database}`, 0);
  return place;
}

/** The call of a migration between servers without secrets. */
const migration = (north: ServedPlace, south: ServedPlace) =>
  `migrate ${betweenServers(north, south).join(' ')} --with none`;

async function proxyFor({ url }: ServedPlace): Promise<TcpProxy> {
  const network = await startTcpProxy(url);
  onTestFinished(() => network.close());
  return network;
}

/** The people of a migration whose parts take a while. */
const CROWD = 3_000;
/** More than a migration sends before its export, and less than an export of these people. */
const BEFORE_EXPORT = 100_000;
/** The head and about one event of the response to an import, which has several events and a result. */
const BEGUN = 600;

/**
 * Migrates a crowd until its import has begun. Its response is held back, so that it cannot have ended.
 * @param expects whether the migration expects what its dry run has shown
 */
async function heldImport(south: ServedPlace, more = '', expects = false) {
  const north = await filledPlace(CROWD);
  const network = await proxyFor(south);
  const line = `${migration(north, { ...south, url: network.url })} ${more}`;
  const dry = z.looseObject({ digest: z.string() }).parse(await identityResult(`${line}--dry-run`.split(' ')));
  // The migration sends as much for its own plan, and then the export once more.
  network.stallResponse(network.bytes('up') + BEFORE_EXPORT, BEGUN);
  const held = network.struck();
  const words = `${line}${expects ? `--expect ${dry.digest} ` : ''}--yes --json`.split(' ');
  const running = await startProgram(command, [script, ...words], /^/);
  await held;
  return { running, line, network };
}

/** Breaks the connection that is held back, and accepts others. */
async function reconnect(network: TcpProxy): Promise<void> {
  await network.refuse();
  await network.accept();
}

const REMAINS =
  /identity: .*http:\S+ had not confirmed any record, but may have written records, which remain; run the same command again: identity migrate --from .+ --yes\n$/;

describe('a migration', () => {
  it('does not begin between one place under two names, or without an instance, and leaves nothing', async () => {
    const cwd = await testDirectory();
    const there = calling({ cwd });
    const { database, tokenFile } = await servedPlace(sqlite);
    const tokens = `--from-token-file ${tokenFile} --to-token-file ${tokenFile}`;
    const servers = `https://NORTH.example:443 --to https://north.example/ ${tokens}`;
    await there(`import --with none ${servers}`, 64, ' is both the source and the target');
    const link = join(await testDirectory(), 'link');
    await symlink(database.replace('sqlite:', ''), link);
    for (const places of [`import --with none ${database}`, `migrate --with none --from ${database}`])
      await there(`${places} --to sqlite:${link}`, 64, ' is both the source and the target');
    const missing = /no instance in .*: check the path, or create an instance with `identity init`/;
    await there('migrate --from sqlite:a --to sqlite:../a --with none', 1, missing);
    expect(await readdir(cwd)).toEqual([]);
  });

  it('reports an unsuitable token before it reads the source', async () => {
    const [north, south] = [await filledPlace(), await servedPlace(sqlite)];
    const narrow = await newTokenFile(south, '--only', 'import');
    const use = 'use a token of a service user with the role IAM_OWNER that is not restricted to other operations\n';
    for (const [tokenFile, problem] of [
      [await tokenFileWith('some-token'), `${south.url} rejects the token of --to-token-file`],
      [narrow.file, `identity: the token for ${south.url} does not permit exports: ${use}`],
    ] as const) {
      const { stderr } = await call(migration(north, { ...south, tokenFile }), 1, problem);
      expect(stderr).not.toContain('exporting');
    }
  });

  it('asks for permissions by calls that succeed, and a source for no import', async () => {
    const [north, south] = [await loggedPlace(sqlite), await loggedPlace(sqlite)];
    const { file: tokenFile } = await newTokenFile(north, '--only', 'export');
    await call(migration({ ...north, tokenFile }, south), 0);
    const [called, exported, imported] = ['/openapi.json 200', '/admin/v1/export 200', '/admin/v1/import 200'];
    await expect.poll(() => new Set(north.requests())).toEqual(new Set([called, exported]));
    await expect.poll(() => new Set(south.requests())).toEqual(new Set([called, exported, imported]));
  });

  it('prints its plan and exits with 2 without a terminal, and then the printed command migrates', async () => {
    const [north, south] = [await filledPlace(), await servedPlace(sqlite)];
    const line = migration(north, south);
    const cwd = await testDirectory();
    const there = calling({ cwd });
    const { stdout } = await there(
      line,
      2,
      'acme (Organisation acme): 3 records, 2 people: 3 missing in the target\n',
      `Left out\n  ${north.orgId}: the default organisation of the source`,
    );
    expect(stdout).not.toContain('Cloud Functions');
    const [, next = ''] =
      /\n\nNothing is changed. To migrate, run\n {2}identity (migrate .+ --expect [0-9a-f]{64} --yes)\n$/.exec(
        stdout,
      ) ?? [];
    await call(`export ${south.database} --to - --org acme`, 64, 'does not have organisation acme: correct --org');
    await there(`${line} --dry-run`, 0, 'Nothing is changed. To migrate, run');
    expect(await readdir(cwd)).toEqual([]);
    await call(next.replaceAll("'", ''), 0, '\n  3 records equal');
  });

  it('counts a record to which the target has added a factor as unchanged, in the import and in the proof', async () => {
    const { database } = await servedPlace(sqlite);
    const fuller = organisation('acme', { humanUsers: [{ ...person('ada'), otpEmail: true }, person('bob')] });
    const changed = organisation('acme', { humanUsers: [person('ada'), person('bob', { userName: 'robert' })] });
    await call(`import ${await exportFileWith(fuller)} --to ${database}`, 0);
    const line = `migrate --from ${await exportFileWith(changed)} --to ${database} --with otp`;
    const found = { equal: 1, different: 1, differentAsExpected: 1 };
    const planned = await identityResult(`${line} --dry-run`.split(' '));
    expect(planned).toMatchObject({ before: found, organisations: [{ before: found }] });
    const { stdout, stderr } = await call(
      `${line} --yes`,
      3,
      /^1 organisation with 3 records: 1 equal, 1 different, 1 different as expected$/m,
      '3 records, 2 people: 1 equal, 1 different, 1 different as expected\n',
      /^Finished with 1 difference and 1 error, and nothing written: 3 records of 1 organisation: 2 unchanged, 1 failed\n/,
      '  1 record equal, 1 different as expected, 1 different\n',
      'person ada (name of ada) of acme (Organisation acme): otpEmail: (absent) | true (unchanged: the record in the target has',
    );
    const error = expect.stringContaining('person bob: exists with other content');
    for (const text of [stdout, stderr]) expect(text.match(/\nErrors\n(?: {2}.*\n)+/g)).toEqual([error]);
  });

  it('has nothing to confirm, and no digest, if nothing moves', async () => {
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    const line = `migrate --from ${north.database} --to ${south.database} --with none`;
    const planned = await call(`${line} --dry-run`, 0, /^Nothing to move: /);
    expect(planned.stdout).not.toMatch(/--expect|[0-9a-f]{64}|0 records|with a password/);
    expect((await call(`${line} --json`, 0)).stdout).not.toMatch(/"next"|"digest"|"event":"plan"/);
  });

  it('exits with 3 if records could not be imported, and with 0 if that was requested', async () => {
    const [north, south] = [await filledPlace(), await servedPlace(sqlite)];
    const other = organisation('acme', { humanUsers: [person('person-0', { userName: 'other' })] });
    await call(`import ${await exportFileWith(other)} --to ${south.database}`, 0);
    const between = migration(north, south);
    const reported = await call(`${between} --yes --json`, 3, /^\{"event":"plan".*"different":1/m);
    const difference = { outcome: 'different', id: 'person-0', fields: [{ path: 'user.userName' }] };
    expect(readResult(reported.stdout)).toMatchObject({
      outcome: 'listed',
      errors: [{ type: 'human_user', id: 'person-0' }],
      proof: { unexpected: 1, differences: [difference] },
    });
    const warning =
      /\nWarnings\n(?: {2}.*\n)*? {2}1 record exists with other content: the import leaves existing records unchanged\n/;
    const { stdout: plan } = await call(`${between} --dry-run --on-conflict skip`, 0, warning);
    expect(plan).not.toContain('\nErrors\n');
    const skipped = await call(`${between} --on-conflict skip --yes --json`, 0);
    const reason = expect.stringContaining('--on-conflict skip keeps');
    const kept = { expected: 1, unexpected: 0, differences: [{ id: 'person-0', reason }] };
    expect(readResult(skipped.stdout).proof).toMatchObject(kept);
    const overwritten = await call(`${between} --on-conflict overwrite --yes --json`, 0);
    expect(readResult(overwritten.stdout)).toMatchObject({ outcome: 'done', proof: { expected: 0, unexpected: 0 } });
  });

  it('stops with the command to run again if a token expires, and moves the rest then', async () => {
    const south = await servedPlace(sqlite);
    const { file, tokenId } = await newTokenFile(south);
    const { running, line, network } = await heldImport({ ...south, tokenFile: file });
    await identityJson(['pat', 'revoke', tokenId, ...databaseOptions(south.location)]);
    await reconnect(network);
    const { code, stderr } = await running.ended();
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(REMAINS) });
    expect(stderr).toMatch(
      /rejects the token of --to-token-file \S+ \(the token was revoked, .+\): create another token for \S+, /,
    );
    await copyFile(south.tokenFile, file);
    await call(`${line}--yes`, 0, '3,001 records equal');
  });

  it('is interrupted by Ctrl-C before its import, and says that nothing is changed', async () => {
    const [north, south] = [await filledPlace(), await restartablePlace(sqlite)];
    const network = await proxyFor(south);
    const line = `${migration(north, { ...south, url: network.url })} --yes`;
    network.stall('up', 1);
    const running = await startProgram(command, [script, ...line.split(' ')], /^/);
    await network.struck();
    expect(await running.stop('SIGINT')).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/identity: interrupted: nothing was changed; repeat the command\n$/),
    });
    await reconnect(network);
    await call(line, 0);
  });

  it('is interrupted by Ctrl-C during its import, says how far it came, and is repeated', async () => {
    const { running, line, network } = await heldImport(await servedPlace(sqlite));
    expect(await running.stop('SIGINT')).toMatchObject({ code: 130, stderr: expect.stringMatching(REMAINS) });
    await reconnect(network);
    const { phases, moved } = readResult((await call(`${line}--yes --json`, 0)).stdout);
    const importing = phases.filter(({ phase }) => phase === 'importing');
    expect(importing).toMatchObject([{ records: CROWD + 1, succeeded: true }]);
    const { created, unchanged: equal } = moved.imported ?? {};
    expect((created?.humanUsers ?? 0) + (equal?.humanUsers ?? 0)).toBe(CROWD);
  });

  it('asks for a new dry run after an interruption with --expect', async () => {
    const { running } = await heldImport(await servedPlace(sqlite), '', true);
    const { stderr } = await running.stop('SIGINT');
    expect(stderr).toMatch(
      /but may have written records, which remain; make a new dry run: identity migrate --from .+ --dry-run\n$/,
    );
    expect(stderr.slice(stderr.indexOf('make a new dry run'))).not.toContain('--expect');
  });

  it.each(['', '--on-conflict fail '])(
    'continues by itself after the target was killed during the import, and is back: %s',
    async (more) => {
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
      expect((created?.humanUsers ?? 0) + (equal?.humanUsers ?? 0)).toBe(CROWD);
      expect(phases.at(-1)?.phase).not.toBe('importing');
      const importing = phases.findLast(({ phase }) => phase === 'importing');
      expect(importing).toMatchObject({ records: CROWD + 1, succeeded: true });
      const { perSecond, seconds = 0, unchanged = 0 } = importing ?? {};
      expect(perSecond).toBeCloseTo(seconds === 0 ? 0 : (CROWD + 1 - unchanged) / seconds, 0);
    },
  );

  it('continues by itself after the connection broke while it sent the export', async () => {
    const [north, south] = [await filledPlace(CROWD), await servedPlace(sqlite)];
    const network = await proxyFor(south);
    const line = migration(north, { ...south, url: network.url });
    await call(`${line} --dry-run`, 0);
    network.cut('up', network.bytes('up') + BEFORE_EXPORT);
    const again = ': trying again in 1 s\n';
    await call(`${line} --yes`, 0, again, '3,001 records equal');
  });

  it('reports that the target is lost during the import, and moves the rest when it is back', async () => {
    const south = await restartablePlace(sqlite);
    const { running, line, network } = await heldImport(south, '--timeout 20s ');
    await south.kill();
    await network.refuse();
    const { code, stderr } = await running.ended();
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(REMAINS) });
    expect(stderr).toContain('--timeout 20s');
    await south.start();
    await network.accept();
    await call(`${line.replace('--timeout 20s', '')}--yes`, 0);
  });

  it('recommends a longer --timeout if that ends the trial import', async () => {
    const south = await servedPlace(sqlite);
    const network = await proxyFor(south);
    const to = `--to ${network.url} --to-token-file ${south.tokenFile}`;
    const line = `migrate --from ${await crowdFile(CROWD)} ${to} --with none --dry-run`;
    await call(line, 0);
    // Most of these bytes are the file in the trial import.
    network.stall('up', network.bytes('up') / 2);
    const shown = line.replace(network.url, `'${network.url}'`);
    const problem = `identity: ${network.url} failed: context deadline exceeded; nothing is changed in ${network.url}`;
    const remedy = `--timeout 5s is too short: specify a longer time, or omit --timeout: identity ${shown}\n`;
    await call(`${line} --timeout 5s`, 1, `${problem}; ${remedy}`);
  });

  it('reports that the target does not respond, and gives up', async () => {
    const [north, south] = [await filledPlace(), await restartablePlace(sqlite)];
    south.signal('SIGSTOP');
    const waiting = `waiting for ${south.url} to respond\n`;
    const problem = `identity: ${south.url} did not respond to GET /openapi.json within 30 s: check that the instance and its database run and are not overloaded\n`;
    await call(`${migration(north, south)} --yes`, 1, waiting, problem).finally(() => south.signal('SIGCONT'));
  });

  it.skipIf(process.platform === 'win32')('reports a full disk, and migrates when there is space', async () => {
    const [north, south] = [await filledPlace(4_000), await servedPlace(sqlite)];
    const line = `${migration(north, south)} --yes`;
    // The process's limit for the size of its files simulates a full disk.
    const limited = ['-c', 'ulimit -f 40 && exec "$0" "$@"', ...identityProgram, ...line.split(' ')];
    const directory = await testDirectory();
    const env = { NODE_COMPILE_CACHE: undefined, TMPDIR: directory };
    const { code, stderr } = await run('/bin/sh', limited, { env });
    const problem = `identity: no space left for a temporary file in ${directory}: free some space, or set TMPDIR to another directory\n`;
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(problem) });
    expect(await readdir(directory)).toEqual([]);
    await call(line, 0);
  });

  it('names with --on-conflict fail the organisations that an earlier run created, and the command that continues', async () => {
    const [north, south] = [await filledPlace(), await servedPlace(sqlite)];
    await call(`import ${await exportFileWith(organisation('acme'))} --to ${south.database}`, 0);
    const problem = `identity: ${south.url} has 1 organisation of the export: acme; nothing is changed in ${south.url}`;
    const remedy =
      'exclude these organisations with --exclude-org, or continue an interrupted migration with identity migrate ';
    const line = `${migration(north, south)} --on-conflict fail --yes`;
    const { stderr } = await call(line, 1, `${problem}; ${remedy}`);
    const [, next = ''] =
      /, or continue an interrupted migration with identity (migrate .+ --yes)\n/.exec(stderr) ?? [];
    expect(next).not.toContain('--on-conflict');
    await call(next.replaceAll("'", ''), 0);
  });

  it('lists with --on-conflict fail all existing organisations before it reads their records', async () => {
    const { database } = await servedPlace(sqlite);
    const orgs = Array.from({ length: 22 }, (_, index) => organisation(`org-${index + 10}`));
    const from = await exportFileWith(...orgs);
    await call(`import ${from} --to ${database}`, 0);
    const ids = Array.from({ length: 10 }, (_, index) => `org-${index + 10}`).join(', ');
    const line = `migrate --from ${from} --to ${database} --with none --on-conflict fail --yes`;
    const { stderr } = await call(
      line,
      1,
      `${database} has 22 organisations of the export: ${ids}, and 12 more; nothing is`,
      `Existing organisations in ${database}\n  org-10 (Organisation org-10)\n`,
      '\n  2 more organisations; --json lists them\n',
    );
    expect(stderr).not.toContain(`comparing ${database}`);
    const existing = orgs.map(({ orgId }) => ({ orgId, name: `Organisation ${orgId}` }));
    await call(`${line} --json`, 1, `${JSON.stringify({ event: 'existing', existing })}\n`);
  });

  it('names an invalid record in the plan, the errors and the proof, and moves the others', async () => {
    const { database } = await servedPlace(sqlite);
    const file = await exportFileWith(organisation('acme', { humanUsers: [{ userId: 'ada' }, person('bob')] }));
    const error = { type: 'human_user', id: 'ada', message: 'orgs[0].humanUsers[0].user: missing' };
    for (const to of [database, join(await testDirectory(), 'copy.json')]) {
      const words = ['migrate', '--from', file, '--to', to, '--with', 'none'];
      expect(await identityResult([...words, '--dry-run'])).toMatchObject({ refused: [error] });
      const proof = to === database ? { proof: { differences: [{ outcome: 'onlySource', id: 'ada' }] } } : {};
      expect(await identityResult([...words, '--yes'])).toMatchObject({ code: 3, errors: [error], ...proof });
    }
  });
});
