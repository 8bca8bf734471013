import { chmod, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { identity } from '../../support/command.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';

/** What `state.json` says of a migration's stage. */
const stages = {
  planned: { plannedAt: '2026-11-20T10:01:00.000Z' },
  interrupted: { plannedAt: '2026-11-20T10:01:00.000Z', confirmedAt: '2026-11-20T10:02:00.000Z' },
  begun: {},
};

describe('the migration that a call means', { timeout: 120_000 }, () => {
  let cwd = '';
  let source = '';
  beforeEach(async () => {
    [cwd, source] = [await testDirectory(), await exportFileWith(organisation('acme'))];
  });

  const call = (...args: string[]) => identity(['migrate', ...args], { cwd });

  /** Begins a migration, and returns its directory. */
  async function planned(name: string, ...args: string[]) {
    const directory = join(cwd, `identity-migration-${name}`);
    const verb = args.length === 0 ? ['plan'] : args;
    const places = ['--from', source, '--to', join(cwd, `${name}.json`), '--with', 'none'];
    const { code, stderr } = await call(...verb, ...places, '--run-dir', directory);
    expect(code, stderr).toBe(0);
    return directory;
  }

  async function atStage(directory: string, stage: keyof typeof stages) {
    const file = join(directory, 'state.json');
    const { version, startedAt, settings } = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ version, startedAt, settings, ...stages[stage] }));
    return directory;
  }

  it('is the only open one, named with its places and age, not a plan or a finished one after it', async () => {
    const open = await atStage(await planned('1'), 'interrupted');
    await planned('2');
    await planned('3', '--yes');
    const status = await call('status');
    expect(status.stdout).toMatch(new RegExp(`^${open}: from ${source} to ${cwd}/1.json, started \\d+ seconds? ago\n`));
    const resumed = await call('resume', '--yes');
    expect(resumed.stderr).toMatch(
      new RegExp(`^resuming the migration from ${source} to ${cwd}/1.json, started \\d+ seconds? ago: ${open}\n`),
    );
    expect(resumed.code, resumed.stderr).toBe(0);
    const none = await call('resume', '--yes');
    expect(none).toMatchObject({ code: 64, stderr: expect.stringContaining('no migration is open: name one\n') });
    expect(none.stderr).toMatch(/ identity migrate resume --run-dir .*-2 \(a plan, from .*\n .*-3 \(finished, /);
    expect((await call('status')).stderr).toMatch(/^identity: 3 migrations are planned or finished: name one\n/);
    const report = await call('report', '--to', 'report.html');
    expect(report.stderr).toMatch(/^identity: 2 migrations are finished: name one\n/);
  });

  it('is a new one, also of two that begin at the same time', async () => {
    const now = new Date();
    for (const to of ['1.json', '2.json']) {
      const args = ['migrate', '--from', source, '--to', join(cwd, to), '--with', 'none', '--yes'];
      expect(await identity(args, { cwd, now })).toMatchObject({ code: 0 });
    }
  });

  it('must be named where several are open, or several are to be cleaned up', async () => {
    const first = await atStage(await planned('1'), 'interrupted');
    const second = await atStage(await planned('2'), 'begun');
    for (const verb of ['resume', 'status', 'cleanup']) {
      const { code, stderr } = await call(verb);
      expect(code).toBe(64);
      expect(stderr).toMatch(/^identity: 2 migrations are (open|to clean up): name one\n/);
      for (const one of [first, second])
        expect(stderr).toContain(`\n  identity migrate ${verb} --run-dir ${one} (open, `);
    }
    expect((await call('cleanup', '--run-dir', first, '--yes')).code).toBe(0);
    const last = await call('cleanup', '--yes');
    expect(last).toMatchObject({ code: 0, stdout: expect.stringContaining(`removed: the run directory ${second}`) });
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
  ])('is none that others could have written: it %s', async (reason, plant) => {
    const planted = await atStage(await planned('9'), 'interrupted');
    await plant(planted);
    for (const args of [['resume', '--yes'], ['resume', '--run-dir', planted], ['status'], ['cleanup', '--yes']]) {
      const { code, stderr } = await call(...args);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(
          new RegExp(`^identity: (?:${planted}\\S* ${reason}.*: specify|${reason} ${planted}\\S*: run chmod go-w )`),
        ),
      });
    }
    const own = await atStage(await planned('1'), 'interrupted');
    expect((await call('resume', '--yes')).stderr).toContain(`ago: ${own}\n`);
  });

  it.skipIf(process.getuid?.() !== 0)('is none of another user', async () => {
    const planted = await atStage(await planned('9'), 'interrupted');
    const { chown } = await import('node:fs/promises');
    await chown(planted, 65_534, 65_534);
    const { code, stderr } = await call('resume', '--yes');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`${planted} belongs to another user: it is not read, since`),
    });
    await mkdir(join(cwd, 'identity-migration-without-state'));
    const own = await atStage(await planned('1'), 'interrupted');
    expect((await call('status')).stdout).toContain(`${own}: `);
  });
});
