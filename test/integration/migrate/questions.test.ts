import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { identityAtTerminal, seenLines, terminalMissing } from '../../support/processes/terminal.ts';
import { sqlite } from '../../support/stores/stores.ts';

describe.skipIf(terminalMissing !== undefined)('a migration at a terminal', () => {
  async function migrateFile() {
    const directory = await testDirectory();
    const target = join(directory, 'copy.json');
    const runDirectory = join(directory, 'run');
    const places = ['--from', await exportFileWith(organisation('acme')), '--to', target, '--with', 'none'];
    return { target, runDirectory, args: ['migrate', ...places, '--run-dir', runDirectory] };
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
    const { target, runDirectory, args } = await migrateFile();
    const answers = [
      ['', 'y\ry'],
      ['Migrate?', 'n'],
    ] as const;
    const refused = await identityAtTerminal(args, answers);
    expect(refused.code, refused.stdout).toBe(2);
    expect(existsSync(target)).toBe(false);
    const resume = ['migrate', 'resume', '--run-dir', runDirectory];
    expect((await identityAtTerminal(resume, answers)).code).toBe(2);
    const confirmed = await identityAtTerminal(resume, [
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
    expect((await identity(['import', from, '--to', database])).code).toBe(0);
    const target = join(await testDirectory(), 'copy.json');
    const args = ['migrate', '--from', database, '--to', target, '--run-dir', join(await testDirectory(), 'run')];
    const which = 'Which secrets move? Without passwords, people have to set a new password.';
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

  it('asks for another token if a place rejects one, and continues with it', async () => {
    const south = await servedPlace(sqlite);
    const wrong = join(await testDirectory(), 'wrong.pat');
    await writeFile(wrong, 'some-token', { mode: 0o600 });
    const { runDirectory, args } = await migrateFile();
    const [, from = ''] = args.slice(args.indexOf('--from'));
    const plan = ['migrate', 'plan', '--from', from, '--to', south.url, '--with', 'none', '--run-dir', runDirectory];
    expect((await identity([...plan, '--token-file', south.tokenFile])).code).toBe(0);
    const resume = ['migrate', 'resume', '--run-dir', runDirectory, '--yes', '--to-token-file', wrong];
    const answer = ['The file of --to-token-file:', `${south.tokenFile}\r`] as const;
    const { code, stdout } = await identityAtTerminal(resume, [answer]);
    expect(code, stdout).toBe(0);
    expect(stdout).toContain(`${south.url} rejects the token of --to-token-file`);
    expect(stdout).toContain('1 record equal');
  });

  it('asks for a missing token, and neither shows nor stores it', async () => {
    const north = await servedPlace(sqlite);
    const [directory, target] = [join(await testDirectory(), 'run'), join(await testDirectory(), 'copy.json')];
    const places = ['--from', north.url, '--to', target, '--with', 'none', '--run-dir', directory];
    const question = `The token for ${north.url}, which is not stored:`;
    const { code, stdout } = await identityAtTerminal(['migrate', 'plan', ...places], [[question, `${north.token}\r`]]);
    expect(code, stdout).toBe(0);
    const files = await Promise.all((await readdir(directory)).map((name) => readFile(join(directory, name), 'utf8')));
    for (const text of [stdout, ...files]) expect(text).not.toContain(north.token);
  });

  it('asks in spite of --yes if the source has changed since its plan was shown', async () => {
    const { target, runDirectory, args } = await migrateFile();
    expect((await identity(args)).code).toBe(2);
    const [, from = ''] = args.slice(args.indexOf('--from'));
    await writeFile(from, JSON.stringify({ orgs: [organisation('acme', { humanUsers: [person('ada')] })] }));
    const resume = ['migrate', 'resume', '--run-dir', runDirectory, '--yes'];
    const refused = await identityAtTerminal(resume, [['Migrate?', 'n']]);
    expect(refused.code, refused.stdout).toBe(2);
    const lines = seenLines(refused);
    const question = lines.findIndex((line) => line.includes('Migrate?'));
    const change = lines.indexOf('  acme (Organisation acme): 2 records instead of 1');
    expect(lines[change - 1]).toBe('The source has changed since the plan was shown');
    expect(change).toBeLessThan(question);
    expect(existsSync(target)).toBe(false);
    await writeFile(from, JSON.stringify({ orgs: [organisation('acme', { humanUsers: [person('bob')] })] }));
    const confirmed = await identityAtTerminal(resume, [['Migrate?', 'y']]);
    expect(confirmed.code, confirmed.stdout).toBe(0);
    expect(await readFile(target, 'utf8')).toContain('bob');
  });

  it('changes nothing after a no, or Ctrl-C, and can be resumed', async () => {
    const { target, runDirectory, args } = await migrateFile();
    const refused = await identityAtTerminal(args, [['Migrate?', 'n']]);
    expect(refused.code, refused.stdout).toBe(2);
    const resume = ['migrate', 'resume', '--run-dir', runDirectory];
    const interrupted = await identityAtTerminal(resume, [['Migrate?', '\u0003']]);
    expect(interrupted.code, interrupted.stdout).toBe(130);
    expect(interrupted.stdout).toContain('interrupted: nothing is changed; continue with identity migrate resume');
    expect(existsSync(target)).toBe(false);
    expect((await readdir(runDirectory)).filter((name) => name.startsWith('export'))).toEqual([]);
    expect((await identity([...resume, '--yes'])).code).toBe(0);
    expect(existsSync(target)).toBe(true);
  });
});
