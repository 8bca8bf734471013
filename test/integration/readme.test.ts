import { access, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalStart, startLocal } from '../support/localStart.ts';
import { root, run } from '../support/program.ts';
import { outputPattern, readReadme, shownCommands, tableUnder, withoutChanging } from '../support/readme.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporaryDirectory.ts';

const readme = await readReadme();

// Beside the commands' own ports: nothing else of them is changed.
function withPorts(text: string, port: number): string {
  return text.replace(/127\.0\.0\.1:808([012])/g, (_, last: string) => `127.0.0.1:${port + Number(last)}`);
}

describe('the commands of the README', () => {
  let clone: TemporaryDirectory = { path: '', remove: async () => {} };
  let local: LocalStart | undefined;
  beforeAll(async () => {
    clone = await temporaryDirectory();
    const entries = await readdir(root);
    for (const entry of entries.filter((name) => name !== '.local' && name !== '.git')) {
      await symlink(join(root, entry), join(clone.path, entry));
    }
    local = await startLocal({ directory: join(clone.path, '.local'), cwd: clone.path });
  });
  afterAll(async () => {
    await local?.stop();
    await clone.remove();
  });

  it.each(shownCommands(readme))('work under “$heading”: $command', async ({ command, output }) => {
    const { code, stdout, stderr } = await run('bash', ['-euc', withPorts(command, local?.port ?? 0)], {
      cwd: clone.path,
      env: { FIRESTORE_EMULATOR_HOST: undefined },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(output, 'the README shows what it prints').toBeDefined();
    expect(withoutChanging(stdout)).toMatch(outputPattern(output ?? ''));
  });

  it('are those that npm start prints, in its order', () => {
    const printed = local?.program.stdout().split('\n') ?? [];
    const oneLine = (text: string) => text.replace(/(\\\n|\s)+/g, ' ').trim();
    const shown = shownCommands(readme)
      .filter(({ heading }) => heading === 'The three operations')
      .map(({ command }) => oneLine(withPorts(command, local?.port ?? 0)).replace(/ cat export\.json$/, ''));
    const curls = printed.filter((line) => /^(curl|\{)/.test(line)).map(oneLine);
    const squeeze = (text: string) => text.replaceAll(', "service', ',"service');
    expect(shown.slice(0, curls.length).map(squeeze)).toEqual(curls);
  });
});

describe('the README', () => {
  it('names only files that are there', async () => {
    const named = tableUnder(readme, 'Where things are').flatMap(([folder = '']) => folder.match(/[\w./]+/g) ?? []);
    const linked = [...readme.matchAll(/\]\(([\w.]+)\)/g)].map(([, file = '']) => file);
    expect(named.length + linked.length).toBeGreaterThan(10);
    for (const path of [...named, ...linked]) await access(join(root, path));
  });

  it('names the scripts that package.json has', async () => {
    const packageJson = await readFile(join(root, 'package.json'), 'utf8');
    for (const [, script = ''] of readme.matchAll(/npm run (?:-s )?([\w:]+)/g)) {
      expect(packageJson).toContain(`"${script}": "`);
    }
  });
});
