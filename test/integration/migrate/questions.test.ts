import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { call, identity, identityResult } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { startTcpProxy } from '../../support/http/tcpProxy.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { startServer } from '../../support/places/fakeInstance.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { identityAtTerminal, seenLines, terminalMissing } from '../../support/processes/terminal.ts';
import { sqlite } from '../../support/stores/stores.ts';

describe.skipIf(terminalMissing !== undefined)('a migration at a terminal', () => {
  async function migrateFile() {
    const directory = await testDirectory();
    const target = join(directory, 'copy.json');
    const places = ['--from', await exportFileWith(organisation('acme')), '--to', target, '--with', 'none'];
    return { target, args: ['migrate', ...places] };
  }

  it.each([80, 50])('shows its plan, asks, and migrates after a yes, in %i columns', async (columns) => {
    const { target, args } = await migrateFile();
    const shown = await identityAtTerminal(args, [['Migrate?', 'y']], { columns });
    const { code, stdout } = shown;
    expect(code, stdout).toBe(0);
    const lines = seenLines(shown);
    const plan = lines.slice(
      0,
      lines.findIndex((line) => line.includes('Migrate?')),
    );
    expect(plan.filter((line) => line.length > columns && line.trim().includes(' '))).toEqual([]);
    expect(plan).toContain('1 organisation with 1 record to move');
    expect(stdout).toContain('\u001b[1mOrganisations');
    expect(plan.indexOf('Left to do by hand')).toBeGreaterThan(plan.indexOf('Organisations'));
    expect(stdout.indexOf('acme (Organisation acme): 1 record,')).toBeGreaterThan(0);
    expect(stdout.indexOf('acme (Organisation acme): 1 record,')).toBeLessThan(stdout.indexOf('Migrate?'));
    expect(stdout).toContain('1 record equal');
    expect(existsSync(target)).toBe(true);
  });

  it('takes what was typed before its question for no answer to that', async () => {
    const { target, args } = await migrateFile();
    const refused = await identityAtTerminal(args, [
      ['', 'y\ry'],
      ['Migrate?', 'n'],
    ]);
    expect(refused.code, refused.stdout).toBe(2);
    expect(existsSync(target)).toBe(false);
    const confirmed = await identityAtTerminal(args, [
      ['', 'n\r'],
      ['Migrate?', 'y'],
    ]);
    expect(confirmed.code, confirmed.stdout).toBe(0);
  });

  it('asks which secrets move from a database', async () => {
    const hash = { hashedPassword: { value: `$2a$10$${'x'.repeat(53)}` } };
    const people = [person('ada', hash), person('bob', hash), person('eve')];
    const from = await exportFileWith(organisation('acme', { humanUsers: people }));
    const { database } = await servedPlace(sqlite);
    await call(`import ${from} --to ${database}`, 0);
    const target = join(await testDirectory(), 'copy.json');
    const args = ['migrate', '--from', database, '--to', target];
    const which = 'Which secrets should move? Without passwords, people must set a new password.';
    const { code, stdout } = await identityAtTerminal(args, [
      [which, '\r'],
      ['Migrate?', 'y'],
    ]);
    expect(code, stdout).toBe(0);
    expect(stdout).toContain('secrets: passwords, otp, keys ');
    const other = args.with(4, join(await testDirectory(), 'copy.json'));
    const interrupted = await identityAtTerminal([...other, '--org', 'acme'], [[which, '\u0003']]);
    expect(interrupted.code, interrupted.stdout).toBe(130);
  });

  it('asks for a missing token, and neither shows nor stores it', async () => {
    const north = await servedPlace(sqlite);
    const [cwd, target] = [await testDirectory(), join(await testDirectory(), 'copy.json')];
    const places = ['--from', north.url, '--to', target, '--with', 'none'];
    const question = `The token for ${north.url} (this command does not store the token):`;
    const { code, stdout } = await identityAtTerminal(
      ['migrate', '--dry-run', ...places],
      [[question, `${north.token}\r`]],
      { cwd },
    );
    expect(code, stdout).toBe(0);
    expect(stdout).not.toContain(north.token);
    expect(await readdir(cwd)).toEqual([]);
  });

  const crowd = (nick: string) => organisation('acme', { humanUsers: [person('ada', { userName: nick })] });

  it.each([
    [
      '--expect',
      'nothing is migrated, because the target changed after the dry run that printed the digest in --expect: run a new dry run: ',
    ],
    ['--on-conflict', 'has changed since the plan was made; nothing is migrated: run the command again'],
  ])('with %s migrates nothing if the target changes while the question stands', async (option, problem) => {
    const { database } = await servedPlace(sqlite);
    await call(['import', await exportFileWith(crowd('ada')), '--to', database], 0);
    const from = ['--from', await exportFileWith(crowd('countess'))];
    const args = ['migrate', ...from, '--to', database, '--with', 'none', '--on-conflict', 'overwrite'];
    const { digest } = z.looseObject({ digest: z.string() }).parse(await identityResult([...args, '--dry-run']));
    const expecting = option === '--expect' ? [...args, option, digest] : args;
    const deletion = ['org', 'delete', 'acme', '--yes', '--data', database.replace('sqlite:', '')];
    const { code, stdout } = await identityAtTerminal(expecting, [['Migrate?', 'y', ...identityProgram, ...deletion]]);
    expect({ code, stdout }).toEqual({ code: option === '--expect' ? 2 : 1, stdout: expect.stringContaining(problem) });
    const after = await identity(['export', database, '--to', '-', '--org', 'acme']);
    expect(after.stderr).toContain('does not have organisation acme');
  });

  it('with --on-conflict fail changes nothing if the organisation appears while the question stands', async () => {
    const { database } = await servedPlace(sqlite);
    const [from, other] = [await exportFileWith(crowd('ada')), await exportFileWith(crowd('countess'))];
    const args = ['migrate', '--from', from, '--to', database, '--with', 'none', '--on-conflict', 'fail'];
    const creation = ['import', other, '--to', database];
    const { code, stdout } = await identityAtTerminal(args, [['Migrate?', 'y', ...identityProgram, ...creation]]);
    const problem = `${database} has organisations of the export: acme; nothing is changed in ${database}; export the source again without these organisations, or `;
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining(problem) });
  });

  it('with --on-conflict fail changes nothing if the organisation appears while the target cannot be reached', async () => {
    const south = await servedPlace(sqlite);
    const network = await startTcpProxy(south.url);
    onTestFinished(() => network.close());
    const [from, other] = [await exportFileWith(crowd('ada')), await exportFileWith(crowd('countess'))];
    const steps: Readonly<Record<string, () => Promise<unknown>>> = {
      '/refuse': () => network.refuse(),
      '/accept': () => call(`import ${other} --to ${south.database}`, 0).then(() => network.accept()),
    };
    const url = await startServer(({ url: path = '' }, response) => {
      void steps[path]?.().then(() => response.end());
    });
    const step = (path: string) => [process.execPath, '-e', `fetch('${url}${path}')`];
    const to = ['--to', network.url, '--to-token-file', south.tokenFile];
    const args = ['migrate', '--from', from, ...to, '--with', 'none', '--on-conflict', 'fail'];
    const { code, stdout } = await identityAtTerminal(args, [
      ['Migrate?', 'y', ...step('/refuse')],
      ['trying again', '', ...step('/accept')],
    ]);
    const problem = `${network.url} has organisations of the export: acme; nothing is changed in ${network.url}; `;
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining(problem) });
  });

  it('changes nothing after a no, or Ctrl-C, and can be repeated', async () => {
    const { target, args } = await migrateFile();
    const refused = await identityAtTerminal(args, [['Migrate?', 'n']]);
    expect(refused.code, refused.stdout).toBe(2);
    const interrupted = await identityAtTerminal(args, [['Migrate?', '\u0003']]);
    expect(interrupted.code, interrupted.stdout).toBe(130);
    expect(interrupted.stdout).toContain(`interrupted: nothing is changed in ${target}; run the same command again: `);
    expect(existsSync(target)).toBe(false);
    await call(`${args.join(' ')} --yes`, 0);
    expect(existsSync(target)).toBe(true);
  });
});
