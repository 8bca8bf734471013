import { access, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, run } from '../../tools/program.ts';
import {
  anchors,
  type Document,
  namedPaths,
  outputPattern,
  readDocument,
  readDocuments,
  relativeLinks,
  type ShownCommand,
  shownCommands,
  withoutChanging,
} from '../support/documents/documentation.ts';
import { type LocalStart, startLocal } from '../support/instances/localStart.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const documents = await readDocuments();
const isManual = ({ path }: Document) => path === 'README.md' || /^docs\/[^/]+$/.test(path);
const commands = documents.filter(isManual).flatMap(shownCommands);

/** Why a block is not run, as it stands behind its `sh`, and what such a block has in it. */
const reasons: Readonly<Record<string, RegExp>> = {
  'needs Google Cloud': /\bgcloud |run -s preflight |\bterraform |--firestore |https:\/\/id\.example\.com/,
  'needs a deployment': /https:\/\/north\.example\.com/,
  'needs root': /\bsystemctl |--port 443|docker compose/,
  'runs until stopped': /npm start|identity -- serve|npm run function:/,
  'takes minutes': /npm ci|npm test|npm run (?:check|build|bench|package|test)/,
};

// Only the ports of the commands are changed.
function withPorts(text: string, port: number): string {
  return text.replace(/127\.0\.0\.1:808([012])/g, (_, last: string) => `127.0.0.1:${port + Number(last)}`);
}

const oneLine = (text: string) => text.replace(/(\\\n|\s)+/g, ' ').replaceAll(', "service', ',"service');
/** Those whose file is not in the repository. */
async function missing<Named extends { readonly path: string }>(named: readonly Named[]): Promise<Named[]> {
  const isThere = await Promise.all(
    named.map(({ path }) =>
      access(join(root, path)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return named.filter((_one, index) => !isThere[index]);
}

// The README shows what the export wrote.
const showsFile = / cat \.local\/export\.json$/;

/** Its commands need a target that no other document has changed. */
const isFirstMigration = ({ path }: ShownCommand) => path === 'docs/first-migration.md';

describe.each([
  { name: 'the documentation', ofGroup: commands.filter((command) => !isFirstMigration(command)) },
  { name: 'the first migration', ofGroup: commands.filter(isFirstMigration) },
])('the commands of $name', ({ ofGroup }) => {
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

  it.each(ofGroup.filter(({ notRun }) => notRun === undefined))(
    'work in $path under “$heading”: $command',
    async ({ command, output = '' }) => {
      const port = local?.port ?? 0;
      const { code, stdout, stderr } = await run('bash', ['-euc', withPorts(command, port)], {
        cwd: clone.path,
        env: { FIRESTORE_EMULATOR_HOST: undefined },
      });
      const progress = command.includes('identity -- migrate') ? expect.any(String) : '';
      expect({ code, stderr }).toEqual({ code: 0, stderr: progress });
      expect(withoutChanging(stdout)).toMatch(outputPattern(withPorts(output, port)));
    },
  );

  it('show all that npm start prints', () => {
    const printed = local?.program.stdout().split('\n') ?? [];
    const curls = printed.filter((line) => /^(curl|\{)/.test(line));
    expect(curls.length).toBeGreaterThanOrEqual(5);
    const shown = commands.map(({ command }) => oneLine(withPorts(command, local?.port ?? 0)).replace(showsFile, ''));
    expect(shown).toEqual(expect.arrayContaining(curls.map(oneLine)));
  });
});

describe('the commands of the documentation that are not run here', () => {
  it.each(commands.filter(({ notRun }) => notRun !== undefined))(
    'are shell and have the reason “$notRun” in $path under “$heading”: $command',
    async ({ command, notRun = '' }) => {
      expect(Object.keys(reasons)).toContain(notRun);
      expect(command).toMatch(reasons[notRun] ?? /^$/);
      expect(await run('bash', ['-nc', command])).toEqual({ code: 0, stdout: '', stderr: '' });
    },
  );
});

describe('the documentation', () => {
  it('names only files that are there', async () => {
    const named = documents.flatMap((document) => namedPaths(document).map((path) => ({ in: document.path, path })));
    expect(named.length).toBeGreaterThan(20);
    expect(await missing(named)).toEqual([]);
  });

  it('links only to files and headings that are there', async () => {
    const links = documents.flatMap((document) =>
      relativeLinks(document).map(({ path, anchor }) => ({ in: document.path, path, anchor })),
    );
    expect(links.length).toBeGreaterThan(40);
    expect(await missing(links)).toEqual([]);
    for (const { path, anchor } of links) {
      if (anchor !== undefined) expect(anchors(await readDocument(path)), path).toContain(anchor);
    }
  });

  it('names scripts that package.json has', async () => {
    const packageJson = await readFile(join(root, 'package.json'), 'utf8');
    const named = documents.flatMap(({ text }) =>
      [...text.matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name]) => name),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !packageJson.includes(`"${name}": "`))).toEqual([]);
  });
});

describe('the README', () => {
  const [readme = { path: '', text: '' }] = documents;

  it('stays short', () => {
    expect(readme.text.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });

  it('links to every page of the documentation', () => {
    const linked = relativeLinks(readme).map(({ path }) => path);
    const pages = documents.filter((document) => isManual(document) && document !== readme);
    expect(linked).toEqual(expect.arrayContaining(pages.map(({ path }) => path)));
  });
});
