import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { startProgram } from '../../../tools/program.ts';
import { call, identity, identityResult } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { startTcpProxy } from '../../support/http/tcpProxy.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { type ServedPlace, servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { sqlite } from '../../support/stores/stores.ts';

/** Returns the call of a migration with all secrets, and the digest of its dry run. */
async function dryRun(from: string, to: string) {
  const args = ['migrate', '--from', from, '--to', to];
  const shown = await identityResult([...args, '--dry-run']);
  const { digest } = z.looseObject({ digest: z.string() }).parse(shown);
  return { args, digest, expecting: [...args, '--expect', digest, '--yes'] };
}

const withPassword = (letter: string) =>
  organisation('acme', { humanUsers: [person('ada', { hashedPassword: { value: `$2a$04$${letter.repeat(53)}` } })] });

async function importInto({ database }: ServedPlace, ...orgs: readonly object[]): Promise<void> {
  await call(`import ${await exportFileWith(...orgs)} --to ${database}`, 0);
}

describe('a migration with --expect', () => {
  it('migrates while source, target and plan are what the dry run showed', async () => {
    const [south, from] = [await servedPlace(sqlite), await exportFileWith(withPassword('a'))];
    const { expecting, digest } = await dryRun(from, south.database);
    const migrated = await call(
      expecting.map((word) => (word === digest ? digest.toUpperCase() : word)),
      0,
    );
    expect(migrated.stdout).toContain('2 records equal');
    expect(migrated.stderr, 'a migration that continues prints no digest').not.toContain(digest);
  });

  it.each([
    ['a password hash', withPassword('b')],
    ['a person', organisation('acme', { humanUsers: [person('ada'), person('bob')] })],
  ])('names the source that has changed by %s, migrates nothing, and prints the dry run', async (_what, changed) => {
    const [south, from] = [await servedPlace(sqlite), await exportFileWith(withPassword('a'))];
    const { args, expecting } = await dryRun(from, south.database);
    await writeFile(from, JSON.stringify({ orgs: [changed] }));
    const { code, stdout, stderr } = await identity(expecting);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /\nidentity: nothing is migrated, because the source changed after the dry run that printed the digest in --expect: run a new dry run: identity migrate --from .+ --dry-run\n$/,
    );
    const after = await identity(['export', south.database, '--to', '-', '--org', 'acme']);
    expect(after.stderr).toContain('does not have organisation acme');
    await call([...args, '--expect', (await dryRun(from, south.database)).digest, '--yes'], 0);
  });

  it('names the target that has changed, and both', async () => {
    const [south, from] = [await servedPlace(sqlite), await exportFileWith(withPassword('a'))];
    const { expecting } = await dryRun(from, south.database);
    await importInto(south, organisation('acme'));
    const target = await identity(expecting);
    expect(target).toMatchObject({ code: 2, stderr: expect.stringContaining('because the target changed after') });
    await writeFile(from, JSON.stringify({ orgs: [withPassword('b')] }));
    const both = await identity(expecting);
    expect(both.stderr).toContain('because the source and the target changed after');
  });

  it('lists the options if only these differ', async () => {
    const [south, from] = [await servedPlace(sqlite), await exportFileWith(withPassword('a'))];
    const { expecting } = await dryRun(from, south.database);
    await call(`${expecting.join(' ')} --on-conflict skip`, 2, 'because the options changed after');
  });

  it('does not depend on the form of the source file: spaces, name and compression', async () => {
    const [south, from] = [await servedPlace(sqlite), await exportFileWith(withPassword('a'))];
    const { digest } = await dryRun(from, south.database);
    const indented = join(await testDirectory(), 'other.json.gz');
    const text = JSON.stringify(JSON.parse(await readFile(from, 'utf8')), undefined, 4);
    await writeFile(indented, gzipSync(text));
    const args = ['migrate', '--from', indented, '--to', south.database, '--expect', digest, '--yes'];
    const { code, stderr } = await identity(args);
    expect(code, stderr).toBe(0);
  });

  it('is needed no more after a dry run of an empty source', async () => {
    const [north, target] = [await servedPlace(sqlite), join(await testDirectory(), 'copy.json')];
    const shown = await identityResult(['migrate', '--from', north.database, '--to', target, '--with', 'none']);
    expect(shown).not.toHaveProperty('digest');
    expect(existsSync(target)).toBe(false);
  });
});

describe('a dry run', () => {
  it('reveals no secret by its digest: two of the same plan are different', async () => {
    const [south, from] = [await servedPlace(sqlite), await exportFileWith(withPassword('a'))];
    const [first, second] = [await dryRun(from, south.database), await dryRun(from, south.database)];
    expect(first.digest).not.toBe(second.digest);
    await call(first.expecting, 0);
  });

  it('writes its plan as a page or as JSON, with all people and no secret', async () => {
    const [south, from] = [await servedPlace(sqlite), await exportFileWith(withPassword('a'))];
    const directory = await testDirectory();
    for (const name of ['plan.html', 'plan.json']) {
      const report = join(directory, name);
      const args = ['migrate', '--from', from, '--to', south.database, '--dry-run', '--report', report];
      await call(args, 0);
      const text = await readFile(report, 'utf8');
      expect(text).toContain('Organisation acme');
      expect(text).not.toContain('$2a$04$');
      if (name === 'plan.json')
        expect(JSON.parse(text)).toMatchObject({
          digest: expect.stringMatching(/^[0-9a-f]{64}$/),
          before: { absent: 2 },
        });
    }
  });
});

describe('a migration of a file', () => {
  it('moves exactly what was planned: it stops if the file changes before its import', async () => {
    const south = await servedPlace(sqlite);
    const people = Array.from({ length: 3_000 }, (_, index) => person(`person-${index}`));
    const from = await exportFileWith(organisation('acme', { humanUsers: people }));
    const network = await startTcpProxy(south.url);
    onTestFinished(() => network.close());
    const args = ['migrate', '--from', from, '--to', network.url, '--to-token-file', south.tokenFile, '--with', 'none'];
    await call(`${args.join(' ')} --dry-run`, 0);
    // Most of these bytes are the file in the trial import.
    network.stall('up', network.bytes('up') / 2);
    const running = await startProgram(identityProgram[0], [identityProgram[1], ...args, '--yes'], /^/);
    await network.struck();
    await writeFile(from, JSON.stringify({ orgs: [organisation('acme')] }));
    await network.refuse();
    await network.accept();
    const { code, stderr } = await running.ended();
    const problem = `identity: ${from} has changed since the plan was made; nothing is changed in ${network.url}: run the command again\n`;
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(problem) });
    const after = await identity(['export', south.database, '--to', '-', '--org', 'acme']);
    expect(after.stderr).toContain('does not have organisation acme');
  });
});

it('a migration into a file does not write its report over that file', async () => {
  const [from, to] = [await exportFileWith(withPassword('a')), join(await testDirectory(), 'out.json')];
  const { code, stderr } = await identity(['migrate', '--from', from, '--to', to, '--yes', '--report', to]);
  expect({ code, stderr }).toEqual({
    code: 64,
    stderr: `identity: --to and --report are the same file, ${to}: specify another report\n`,
  });
});
