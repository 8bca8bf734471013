import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { root, run } from '../../tools/program.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

/** Files that hold secrets or personal data, where commands and people leave them. */
const secretFiles = [
  'cli/owner.pat',
  'docs/export.json',
  'local/export-2026.json',
  'shared/identity.sqlite',
  'shared/identity.sqlite-wal',
  'shared/master.key',
];
const packed = z.tuple([z.object({ files: z.array(z.object({ path: z.string() })) })]);

describe('files with secrets', () => {
  it('are left out of packages, which `npm run package` makes from the bundle alone', async () => {
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    await copyFile(join(root, 'package.json'), join(path, 'package.json'));
    for (const file of [...secretFiles, 'cli/identity.ts']) {
      await mkdir(dirname(join(path, file)), { recursive: true });
      await writeFile(join(path, file), '');
    }
    const { stdout, stderr } = await run('npm', ['pack', '--dry-run', '--json'], { cwd: path });
    const [{ files }] = packed.parse(JSON.parse(stdout), { error: () => stderr });
    expect(files.map((file) => file.path)).toEqual(['package.json']);
  });

  it('are ignored by git, in whatever folder', async () => {
    const files = [...secretFiles.filter((file) => !file.includes('export')), 'export.json', '.local/source/owner.pat'];
    const { stdout } = await run('git', ['check-ignore', '--no-index', ...files], { cwd: root });
    expect(stdout.trimEnd().split('\n')).toEqual(files);
  });
});
