import { chmod, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { identity } from '../../support/command.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';

describe('the run directory of a call', () => {
  let cwd = '';
  let source = '';
  beforeEach(async () => {
    [cwd, source] = [await testDirectory(), await exportFileWith(organisation('acme'))];
  });

  const call = (...args: string[]) => identity(['migrate', ...args], { cwd });

  /** Plans a migration, and returns its directory. */
  async function planned(name: string) {
    const directory = join(cwd, `identity-migration-${name}`);
    const places = ['--from', source, '--to', join(cwd, `${name}.json`), '--with', 'none'];
    const { code, stderr } = await call('plan', ...places, '--run-dir', directory);
    expect(code, stderr).toBe(0);
    return directory;
  }

  const verbs = [['resume', '--yes'], ['report', '--to', 'report.html'], ['cleanup']] as const;

  it('is the only one here, whatever its stage', async () => {
    await mkdir(join(cwd, 'identity-migration-without-state'));
    const missing = `identity: no migration in ${cwd}/identity-migration-*: specify its directory with --run-dir\n`;
    for (const verb of verbs) expect(await call(...verb)).toMatchObject({ code: 1, stderr: missing });
    const directory = await planned('1');
    const resumed = await call('resume', '--yes');
    expect(resumed.stderr).toMatch(
      new RegExp(`^resuming the migration from ${source} to ${cwd}/1.json, started at \\S+: ${directory}\n`),
    );
    expect(resumed.code, resumed.stderr).toBe(0);
    const again = await call('resume', '--yes');
    expect(again).toMatchObject({ code: 0, stdout: resumed.stdout });
    expect(again.stderr).toMatch(/^the migration from .+, started at \S+, finished at \S+: .+\n$/);
    expect(await call('report', '--to', 'report.html')).toMatchObject({ code: 0 });
    expect(await call('cleanup', '--yes')).toMatchObject({ code: 0 });
  });

  it('must be specified if there are several', async () => {
    const [first, second] = [await planned('1'), await planned('2')];
    const problem = 'identity: there are 2 migrations here: specify one with --run-dir';
    for (const verb of verbs)
      expect(await call(...verb)).toMatchObject({ code: 64, stderr: `${problem}\n  ${first}\n  ${second}\n` });
    expect((await call('cleanup', '--run-dir', first, '--yes')).code).toBe(0);
    const last = await call('cleanup', '--yes');
    expect(last).toMatchObject({ code: 0, stdout: expect.stringContaining(`deleted: the run directory ${second}`) });
  });

  it('is deleted if the source is a file that does not exist', async () => {
    const places = ['--from', 'mistyped.json', '--to', 'new.json', '--with', 'none'];
    for (const verb of [['plan'], ['--yes']]) {
      const { code, stderr } = await call(...verb, ...places);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/mistyped\.json does not exist.*\n$/),
      });
    }
    expect(await readdir(cwd)).toEqual([]);
  });

  it('is a new one, also for two migrations that begin at the same time', async () => {
    const now = new Date();
    for (const to of ['1.json', '2.json']) {
      const args = ['migrate', '--from', source, '--to', join(cwd, to), '--with', 'none', '--yes'];
      expect(await identity(args, { cwd, now })).toMatchObject({ code: 0 });
    }
  });

  it.each([
    [
      'is a symbolic link',
      (run: string) => rename(run, join(run, '../moved')).then(() => symlink(join(run, '../moved'), run)),
    ],
    ['others can change', (run: string) => chmod(run, 0o770)],
    ['others can change', (run: string) => chmod(join(run, 'plan.json'), 0o622)],
    [
      'is a symbolic link',
      (run: string) =>
        rename(join(run, 'state.json'), `${run}.state`).then(() => symlink(`${run}.state`, join(run, 'state.json'))),
    ],
  ])('is rejected if others could have written it: it %s', async (reason, plant) => {
    const planted = await planned('9');
    await plant(planted);
    for (const args of [...verbs, ['resume', '--run-dir', planted]]) {
      const { code, stderr } = await call(...args);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(
          new RegExp(`^identity: (?:${planted}\\S* ${reason}.*: specify|${reason} ${planted}\\S*: run chmod go-w )`),
        ),
      });
    }
  });

  it.skipIf(process.getuid?.() !== 0)('is rejected if it belongs to another user', async () => {
    const planted = await planned('9');
    const { chown } = await import('node:fs/promises');
    await chown(planted, 65_534, 65_534);
    const { code, stderr } = await call('resume', '--yes');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`${planted} belongs to another user: it is not read, because`),
    });
  });

  it('is rejected if its state is incomplete, or written by another version', async () => {
    const directory = await planned('1');
    const file = join(directory, 'state.json');
    const state = await readFile(file, 'utf8');
    const contents = [
      { content: state.slice(0, -20), code: 1 },
      { content: '', code: 1 },
      { content: '{"version":2}', code: 64 },
    ];
    for (const { content, code } of contents) {
      await writeFile(file, content);
      expect(await call('resume', '--yes')).toMatchObject({ code, stdout: '' });
    }
  });
});
