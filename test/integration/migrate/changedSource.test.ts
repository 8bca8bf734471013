import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';

/** No secrets move. */
const none = ['--with', 'none'];

async function runDirectory() {
  return join(await testDirectory(), 'run');
}

describe('a migration', () => {
  it('stops in spite of --yes if the source has changed since its plan was shown', async () => {
    const target = join(await testDirectory(), 'copy.json');
    const orgs = (...humanUsers: object[]) => [organisation('same'), organisation('acme', { humanUsers })];
    const from = await exportFileWith(...orgs(person('ada')), organisation('gone'));
    const directory = await runDirectory();
    const plan = ['migrate', 'plan', '--from', from, '--to', target, ...none, '--run-dir', directory];
    expect((await identity(plan)).code).toBe(0);
    const resume = (...more: string[]) => identity(['migrate', 'resume', '--run-dir', directory, '--yes', ...more]);
    await writeFile(from, JSON.stringify({ orgs: [...orgs(person('ada'), person('bob')), organisation('new')] }));
    const { code, stdout } = await resume();
    expect(code, stdout).toBe(2);
    expect(stdout).toMatch(
      /\n\nThe source has changed since the plan was shown\n {2}acme \(Organisation acme\): 3 records instead of 2\n {2}gone \(Organisation gone\): no longer among the organisations to move\n {2}new \(Organisation new\): new, 1 record\n\nNothing is changed: migrate with\n {2}identity migrate resume --run-dir \S+ --yes\n$/,
    );
    expect(stdout).toContain('acme (Organisation acme): 3 records, 2 people: 3 not there\n');
    await writeFile(from, JSON.stringify({ orgs: orgs(person('ada'), person('bob', { userName: 'robert' })) }));
    const changed = await resume('--json');
    expect(JSON.parse(changed.stdout.trim().split('\n').at(-1) ?? ''), changed.stderr).toMatchObject({
      event: 'result',
      changed: false,
      sourceChanges: [
        'acme (Organisation acme): other content',
        'new (Organisation new): no longer among the organisations to move',
      ],
      next: `identity migrate resume --run-dir ${directory} --yes`,
    });
    expect(changed.code).toBe(2);
    expect(existsSync(target)).toBe(false);
    expect((await resume()).code).toBe(0);
    expect(await readFile(target, 'utf8')).toContain('robert');
  });

  it('stops also if the source was empty when its plan was shown', async () => {
    const target = join(await testDirectory(), 'copy.json');
    const { database } = await servedPlace(sqlite);
    const directory = await runDirectory();
    const plan = ['migrate', 'plan', '--from', database, '--to', target, ...none, '--run-dir', directory];
    expect((await identity(plan)).code).toBe(0);
    const filled = await identity(['import', await exportFileWith(organisation('new')), '--to', database]);
    expect(filled, filled.stderr).toMatchObject({ code: 0 });
    const resume = ['migrate', 'resume', '--run-dir', directory, '--yes'];
    const stopped = await identity(resume);
    expect(stopped, stopped.stderr).toMatchObject({ code: 2, stdout: expect.stringContaining('new, 1 record\n') });
    expect((await identity(resume)).code).toBe(0);
  });
});
