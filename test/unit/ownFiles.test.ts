import { execFileSync } from 'node:child_process';
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkStatus, readOwnSecret } from '../../shared/ownFiles.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

it('a directory in place of a file with a secret is reported as one, not by its mode', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  chmodSync(directory.path, 0o755);
  await expect(readOwnSecret(directory.path, () => {})).rejects.toMatchObject({ code: 'EISDIR', path: directory.path });
});

describe('a pipe that everyone may write to', () => {
  const pipe = async () => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const path = join(directory.path, 'pipe');
    execFileSync('mkfifo', [path]);
    chmodSync(path, 0o622);
    return { path, status: statSync(path) };
  };

  it.each(['/dev/fd/63', '/proc/self/fd/63', '/dev/stdin'])(
    'is trusted with a secret if the command was started with it: %s',
    async (path) => {
      const { status } = await pipe();
      expect(() => checkStatus(path, 'secret', status)).not.toThrow();
    },
  );

  it('is not trusted with a secret at any other path', async () => {
    const { path, status } = await pipe();
    expect(() => checkStatus(path, 'secret', status)).toThrow(`other users can change ${path}: run chmod go-w ${path}`);
    expect(() => checkStatus('/dev/fdx/63', 'secret', status)).toThrow('other users can change');
  });
});
