import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { identity } from '../../support/command.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';

const CONTENT = JSON.stringify({ orgs: [organisation('acme')] });

/** Starts an export of standard input, which does not end, and waits until its file is being written. */
async function exportToFile() {
  const directory = await testDirectory();
  const target = join(directory, 'out.json');
  const [command, ...program] = identityProgram;
  const child = spawn(command, [...program, 'export', '-', '--to', target]);
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdin.on('error', () => {});
  child.stdin.write(CONTENT.slice(0, -1));
  const [folder] = await vi.waitFor(async () => {
    const copies = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('copy'));
    expect(copies).toHaveLength(1);
    return (await readdir(directory)).map((name) => join(directory, name));
  }, 30_000);
  return { directory, target, child, folder };
}

async function ended(child: ChildProcessWithoutNullStreams, end: () => void) {
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const closed = once(child, 'close');
  end();
  const [code] = await closed;
  return { code, stderr };
}

describe('a command that is killed while it writes a file', () => {
  it('leaves a folder, which the next command for the file removes and reports', async () => {
    const { directory, target, child, folder } = await exportToFile();
    await ended(child, () => child.kill('SIGKILL'));
    expect(await readdir(directory)).toEqual([folder].map((path) => path?.slice(directory.length + 1)));
    const again = await identity(['export', await exportFileWith(organisation('acme')), '--to', target]);
    expect(again).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`identity: removed the folder ${folder} of a killed process\n`),
    });
    expect(await readdir(directory)).toEqual(['out.json']);
  });

  it('leaves the folder of a running command in place', async () => {
    const { directory, target, child, folder } = await exportToFile();
    const other = await identity(['export', await exportFileWith(organisation('acme')), '--to', target]);
    expect(other).toMatchObject({ code: 0, stderr: expect.not.stringContaining('removed') });
    expect((await readdir(directory)).map((name) => join(directory, name))).toEqual([target, folder]);
    const { code, stderr } = await ended(child, () => child.stdin.end(CONTENT.slice(-1)));
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`${target} exists`) });
    expect(await readdir(directory)).toEqual(['out.json']);
  });

  it.skipIf(process.platform === 'win32')('ends with its message and without a file at SIGHUP', async () => {
    const { directory, target, child } = await exportToFile();
    const { code, stderr } = await ended(child, () => child.kill('SIGHUP'));
    expect({ code, stderr }).toEqual({
      code: 129,
      stderr: expect.stringContaining(`identity: interrupted: ${target} was not created; repeat the command\n`),
    });
    expect(await readdir(directory)).toEqual([]);
  });
});
