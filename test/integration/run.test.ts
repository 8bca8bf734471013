import { execFileSync } from 'node:child_process';
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, run, startProgram } from '../../tools/program.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const program = `
if (process.argv[2] === 'wait') {
  setInterval(() => {}, 1000);
  process.on('SIGTERM', () => process.exit(7));
} else {
  process.exitCode = 5;
}
process.stdout.write(JSON.stringify([process.env.LOCKED, process.argv.slice(1), process.execArgv]) + '\\n');`;

/** The Nodes that this machine has beside the locked one, with their versions. */
function systemNodes(): readonly (readonly [path: string, version: string])[] {
  const directories = (process.env.PATH ?? '').split(delimiter).filter((path) => !path.includes('node_modules'));
  return directories.flatMap((directory) => {
    const path = join(directory, 'node');
    try {
      return [[path, execFileSync(path, ['--print', 'process.versions.node'], { encoding: 'utf8' }).trim()]];
    } catch {
      return [];
    }
  });
}

describe('run.cjs', () => {
  let directory: TemporaryDirectory = { path: '', remove: async () => {} };
  beforeAll(async () => {
    directory = await temporaryDirectory();
  });
  afterAll(() => directory.remove());

  /** Makes a project whose code needs a Node, and which has the Node of a lock file where `locked` says so. */
  async function project(name: string, needed: string, locked = false): Promise<string> {
    const path = join(directory.path, name);
    const bin = join(path, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin');
    await mkdir(bin, { recursive: true });
    await cp(join(root, 'run.cjs'), join(path, 'run.cjs'));
    await writeFile(join(path, 'package.json'), JSON.stringify({ engines: { node: `>=${needed}` } }));
    await writeFile(join(path, 'program.mjs'), program);
    if (locked) await writeFile(join(bin, 'node'), `#!/bin/sh\nLOCKED=yes exec '${process.execPath}' "$@"\n`);
    if (locked) await chmod(join(bin, 'node'), 0o755);
    return path;
  }

  it('runs a program here, where the platform has no locked Node and this one is recent', async () => {
    const cwd = await project('here', '20.19');
    const ended = await run(process.execPath, ['run.cjs', 'program.mjs', 'a', '--b'], { cwd });
    const output = `${JSON.stringify([null, [join(cwd, 'program.mjs'), 'a', '--b'], []])}\n`;
    expect(ended).toEqual({ code: 5, stdout: output, stderr: '' });
  });

  it('runs it under the locked Node where there is one', async () => {
    const cwd = await project('locked', '99.1', true);
    const ended = await run(process.execPath, ['run.cjs', 'program.mjs', 'a', '--b'], { cwd });
    const output = `${JSON.stringify(['yes', [join(cwd, 'program.mjs'), 'a', '--b'], []])}\n`;
    expect(ended).toEqual({ code: 5, stdout: output, stderr: '' });
  });

  it('passes SIGTERM on, and returns what the program does', async () => {
    const cwd = await project('signalled', '20.19', true);
    const running = await startProgram(process.execPath, ['run.cjs', 'program.mjs', 'wait'], /wait/, { cwd });
    expect(await running.stop('SIGTERM')).toMatchObject({ code: 7, stderr: '' });
  });

  it.each(['99.1', `${process.versions.node.split('.')[0]}.99`])(
    'says in one line that %s is needed',
    async (needed) => {
      const cwd = await project(needed, needed);
      const ended = await run(process.execPath, ['run.cjs', 'program.mjs'], { cwd });
      expect(ended).toEqual({ code: 1, stdout: '', stderr: tooOld(process.versions.node, needed) });
    },
  );

  it('does so under an old Node, for a program that it cannot read', async ({ skip }) => {
    const [path, version] = systemNodes().find(([, one]) => Number.parseInt(one, 10) < 24) ?? [];
    if (path === undefined || version === undefined) {
      process.stdout.write('skipped: no Node older than 24 is on the PATH\n');
      return skip();
    }
    const cwd = await project('old', '24.7');
    await writeFile(join(cwd, 'program.ts'), 'await using none: null = null;');
    const ended = await run(path, ['run.cjs', 'program.ts'], { cwd });
    expect(ended).toEqual({ code: 1, stdout: '', stderr: tooOld(version, '24.7') });
    const help = await run(path, [join(root, 'cli', 'bin.cjs'), '--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
  });
});

function tooOld(version: string, needed: string): string {
  const remedy = 'on Linux, Windows and Intel Macs, npm ci brings one';
  return `Node ${version} is too old: install Node ${needed} or later (${remedy})\n`;
}
