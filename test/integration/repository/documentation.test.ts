import { existsSync, globSync, readFileSync } from 'node:fs';
import { readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAMPLE_REPORT, sampleReport } from '../../../tools/docs/sampleReport.ts';
import { root, run } from '../../../tools/program.ts';
import {
  anchors,
  type Document,
  outputPattern,
  readDocument,
  readDocuments,
  relativeLinks,
  type ShownCommand,
  shownCommands,
  shownModule,
  withoutChanging,
} from '../../support/documents/documentation.ts';
import { type LocalStart, startLocal } from '../../support/instances/localStart.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const documents = await readDocuments();
const isManual = ({ path }: Document) => path === 'README.md' || /^docs\/[^/]+$/.test(path);
const commands = documents.filter(isManual).flatMap(shownCommands);

/** Why a block is not run, as it stands behind its `sh`, and what such a block has in it. */
const reasons: Readonly<Record<string, RegExp>> = {
  'needs Google Cloud': /\bgcloud |\bterraform |\bfirebase-tools |--firestore |https:\/\/id\.example\.com/,
  'needs a deployment': /https:\/\/north\.example\.com/,
  'needs root': /\bsystemctl |--port 443|docker compose/,
  'runs until stopped': /npm start|identity -- serve|npm run function:|gcloud emulators/,
  'needs the Firestore emulator': /FIRESTORE_EMULATOR_HOST=/,
  'takes minutes': /npm ci|npm test|npm run (?:check|build|bench|package|test)/,
};

// Only the ports of the commands are changed.
function withPorts(text: string, port: number): string {
  return text.replace(/127\.0\.0\.1:808([012])/g, (_, last: string) => `127.0.0.1:${port + Number(last)}`);
}

const oneLine = (text: string) => text.replace(/(\\\n|\s)+/g, ' ').replaceAll(', "service', ',"service');
// The README shows what the export wrote.
const showsFile = / cat \.local\/export\.json$/;

/** Its commands follow those of the other documents in the same clone, and start other instances. */
const isFirstMigration = ({ path }: ShownCommand) => path === 'docs/first-migration.md';

let clone: TemporaryDirectory = { path: '', remove: async () => {} };
beforeAll(async () => {
  clone = await temporaryDirectory();
  const entries = await readdir(root);
  for (const entry of entries.filter((name) => name !== '.local' && name !== '.git')) {
    await symlink(join(root, entry), join(clone.path, entry));
  }
});
afterAll(() => clone.remove());

describe.each([
  { name: 'the documentation', ofGroup: commands.filter((command) => !isFirstMigration(command)) },
  { name: 'the first migration', ofGroup: commands.filter(isFirstMigration) },
])('the commands of $name', ({ name, ofGroup }) => {
  let local: LocalStart | undefined;
  beforeAll(async () => {
    const start = ofGroup.find(({ command }) => command.includes('npm start'))?.command ?? '';
    const [, directory = '.local'] = /LOCAL_DIR=(\S+)/.exec(start) ?? [];
    local = await startLocal({ directory: join(clone.path, directory), cwd: clone.path });
  });
  afterAll(() => local?.stop());

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

  if (name === 'the first migration') {
    it('leave the result of which the documents have the report', async () => {
      const { text } = await readDocument(SAMPLE_REPORT);
      const advice = `${SAMPLE_REPORT} is outdated: after the first migration, npm run docs -- .local/first.json`;
      expect(await sampleReport(join(clone.path, '.local/first.json')), advice).toBe(text);
    });
    return;
  }

  it('include a module for pages, which has the documented calls and errors', async () => {
    const code = `import { readFileSync } from 'node:fs';
      ${shownModule(await readDocument('docs/clients.md'))}
      const token = readFileSync('.local/source/owner.pat', 'utf8');
      const show = (removal) => removal.then(console.log, ({ message }) => console.log(message));
      for (const remove of [removeOtpEmail, removeOtpEmail, removeWithClient]) await show(remove(token, '330000000000000201'));`;
    const args = ['--input-type=module', '--eval', withPorts(code, local?.port ?? 0)];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: clone.path });
    expect([stderr, stdout.replace(/[\da-f]{8}(?:-[\da-f]{4,12}){4}/g, '<id>').split('\n')]).toEqual([
      '',
      [
        '330000000000000001',
        "404 COMMAND-b312D: Multifactor OTP (OneTimePassword) doesn't exist (COMMAND-b312D), request <id>",
        "NotFound COMMAND-b312D: Multifactor OTP (OneTimePassword) doesn't exist (COMMAND-b312D), request <id>",
        '',
      ],
    ]);
  });

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

describe('the links of the documentation', () => {
  it('lead to files and headings', async () => {
    const links = documents.flatMap((document) =>
      relativeLinks(document).map((link) => ({ in: document.path, ...link })),
    );
    expect(links.length).toBeGreaterThan(40);
    expect(links.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
    for (const { path, anchor } of links) {
      if (anchor !== undefined) expect(anchors(await readDocument(path)), path).toContain(anchor);
    }
  });
});

describe('a citation of the specification or of the contract of ZITADEL', () => {
  it('leads to a section', async () => {
    const sections = new Map<string, readonly string[]>();
    for (const name of ['specification', 'zitadel']) {
      const { text } = await readDocument(`docs/${name}.md`);
      sections.set(
        name,
        Array.from(text.matchAll(/^#+ (\d+(?:\.\d+)*) /gm), ([, number = '']) => number),
      );
    }
    const sources = globSync(['{functions,shared,cli,local,test,docs}/**/*.{ts,md}', '*.md'], { cwd: root });
    const cited = sources.flatMap((path) => {
      // A citation in a comment may be wrapped.
      const text = readFileSync(join(root, path), 'utf8').replace(/\s*\n\s*(?:\*|\/\/)\s+/g, ' ');
      const found = text.matchAll(/\b([Ss]pecification|zitadel) (\d+(?:\.\d+)*)/g);
      return Array.from(found, ([, name = '', section = '']) => ({ path, name: name.toLowerCase(), section }));
    });
    expect(cited.length).toBeGreaterThan(90);
    expect(cited.filter(({ name, section }) => !sections.get(name)?.includes(section))).toEqual([]);
  });
});

describe('a guarantee of SECURITY.md', async () => {
  const { text } = await readDocument('SECURITY.md');
  const [, guarantees = ''] = /^## Guarantees$([\s\S]*?)^## /m.exec(text) ?? [];
  const rows = guarantees.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| guarantee |'));

  it.each(rows)('names tests, all of which exist: %s', (row) => {
    const tests = [...row.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)];
    expect(tests).not.toEqual([]);
    for (const [, title = '', path = ''] of tests) {
      // `it('title'`, `it.each(…)("title"` or Terraform's `run "title"`.
      const literal = title.replace(/[\^$.*+?()[\]{}|\\]/g, '\\$&');
      expect(readFileSync(join(root, path), 'utf8')).toMatch(new RegExp(`(?:\\(\\s*|^run )(['"\`])${literal}\\1`, 'm'));
    }
  });
});
