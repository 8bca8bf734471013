import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, run, startProgram } from '../../../tools/program.ts';
import { oldNode } from '../../support/processes/oldNode.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const program = `
if (process.argv[2] === 'wait') {
  setInterval(() => {}, 1000);
  process.on('SIGTERM', () => process.stdout.write('stopped', () => process.exit(7)));
} else {
  process.exitCode = 5;
}
process.stdout.write(JSON.stringify([process.env.LOCKED, process.argv.slice(1), process.execArgv]) + '\\n');`;

describe('tools/run.cjs', () => {
  let directory: TemporaryDirectory = { path: '', remove: async () => {} };
  beforeAll(async () => {
    directory = await temporaryDirectory();
  });
  afterAll(() => directory.remove());

  /** Makes a project whose code needs a version of Node. With `locked`, the project has the Node of a lock file. */
  async function project(name: string, needed: string, locked = false): Promise<string> {
    const path = join(directory.path, name);
    const bin = join(path, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin');
    await mkdir(bin, { recursive: true });
    await cp(join(root, 'tools/run.cjs'), join(path, 'tools/run.cjs'));
    await writeFile(join(path, 'package.json'), JSON.stringify({ engines: { node: `>=${needed}` } }));
    await writeFile(join(path, 'program.mjs'), program);
    if (locked) await writeFile(join(bin, 'node'), `#!/bin/sh\nLOCKED=yes exec '${process.execPath}' "$@"\n`);
    if (locked) await chmod(join(bin, 'node'), 0o755);
    return path;
  }

  it('runs a program with the present Node if it is recent and the platform has no locked one', async () => {
    const cwd = await project('here', '20.19');
    const ended = await run(process.execPath, ['tools/run.cjs', 'program.mjs', 'a', '--b'], { cwd });
    const output = `${JSON.stringify([null, [join(cwd, 'program.mjs'), 'a', '--b'], []])}\n`;
    expect(ended).toEqual({ code: 5, stdout: output, stderr: '' });
  });

  it('runs a program with the locked Node if there is one', async () => {
    const cwd = await project('locked', '99.1', true);
    const ended = await run(process.execPath, ['tools/run.cjs', 'program.mjs', 'a', '--b'], { cwd });
    const output = `${JSON.stringify(['yes', [join(cwd, 'program.mjs'), 'a', '--b'], []])}\n`;
    expect(ended).toEqual({ code: 5, stdout: output, stderr: '' });
  });

  it.each([
    ['here, once', false, null],
    ['under the locked Node', true, 'yes'],
  ])('runs it with the options of V8 that it needs: %s', async (name, locked, under) => {
    const cwd = await project(`options ${name}`, '20.19', locked);
    const call = `require('./tools/run.cjs').run('program.mjs', ['a'], ['--max-semi-space-size=8', '--max-old-space-size=99'])`;
    await writeFile(join(cwd, 'start.cjs'), call);
    const ended = await run(process.execPath, ['--max-old-space-size=99', 'start.cjs'], { cwd });
    const options = ['--max-old-space-size=99', '--max-semi-space-size=8'];
    const output = `${JSON.stringify([under, [join(cwd, 'program.mjs'), 'a'], options])}\n`;
    expect(ended).toEqual({ code: 5, stdout: output, stderr: '' });
  });

  it.each(['--max-old-space-size=77', '--max_old_space_size=77'])(
    'leaves an option to NODE_OPTIONS: %s',
    async (given) => {
      const cwd = await project(`given ${given}`, '20.19');
      const call = `require('./tools/run.cjs').run('program.mjs', [], ['--max-semi-space-size=8', '--max-old-space-size=99'])`;
      await writeFile(join(cwd, 'start.cjs'), call);
      const ended = await run(process.execPath, ['start.cjs'], { cwd, env: { NODE_OPTIONS: given } });
      const output = `${JSON.stringify([null, [join(cwd, 'program.mjs')], ['--max-semi-space-size=8']])}\n`;
      expect(ended).toEqual({ code: 5, stdout: output, stderr: '' });
    },
  );

  describe.each([
    ['one process', []],
    ['two, where Node cannot replace a process', ['--import', 'data:text/javascript,delete process.execve']],
  ])('as %s', (name, without) => {
    const words = [...without, 'tools/run.cjs', 'program.mjs', 'wait'];
    const start = async () => {
      const cwd = await project(`killed ${name}`, '20.19', true);
      return startProgram(process.execPath, words, /"yes".*wait/, { cwd });
    };

    it('passes SIGTERM on, and returns what the program does', async () => {
      expect(await (await start()).stop('SIGTERM')).toMatchObject({ code: 7, stderr: '' });
    });

    it('stops the program when the shell of an npm script has ended', async () => {
      const cwd = await project(`orphaned ${name}`, '20.19', true);
      const line = [process.execPath, ...words].map((word) => `'${word}'`).join(' ');
      const env = { npm_lifecycle_event: 'identity' };
      const shell = await startProgram('sh', ['-c', `${line}; true`], /"yes".*wait/, { cwd, env });
      // The end of the output shows that the program has ended.
      expect((await shell.stop('SIGTERM')).stdout).toMatch(/stopped$/);
    });

    it('leaves no program behind that holds its output when SIGKILL ends it', async () => {
      expect(await (await start()).stop('SIGKILL')).toMatchObject({ code: null, stderr: '' });
    });
  });

  it.each(['99.1', `${process.versions.node.split('.')[0]}.99`])(
    'says in one line that %s is needed, and in a clone how to get it',
    async (needed) => {
      const cwd = await project(needed, needed);
      const start = () => run(process.execPath, ['tools/run.cjs', 'program.mjs'], { cwd });
      const message = `Node ${process.versions.node} is too old: install Node ${needed} or later`;
      expect(await start()).toEqual({ code: 1, stdout: '', stderr: `${message}\n` });
      await writeFile(join(cwd, 'package-lock.json'), '');
      const remedy = ' (on Linux, Windows and Intel Macs, npm ci brings one)';
      expect(await start()).toEqual({ code: 1, stdout: '', stderr: `${message}${remedy}\n` });
    },
  );

  it('does so under an old Node, for a program that it cannot read', async ({ skip }) => {
    const [path, version] = oldNode() ?? skip();
    const cwd = await project('old', '24.7');
    await writeFile(join(cwd, 'program.ts'), 'await using none: null = null;');
    const ended = await run(path, ['tools/run.cjs', 'program.ts'], { cwd });
    expect(ended).toEqual({ code: 1, stdout: '', stderr: `Node ${version} is too old: install Node 24.7 or later\n` });
    const help = await run(path, [join(root, 'tools/run.cjs'), join(root, 'cli', 'identity.ts'), '--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
  });
});
