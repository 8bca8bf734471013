import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, run } from '../../../tools/program.ts';
import { guarantees } from '../../fixtures/guarantees.ts';
import {
  anchors,
  manualCommands,
  readDocument,
  readDocuments,
  relativeLinks,
} from '../../support/documents/documentation.ts';

const documents = await readDocuments();
const commands = await manualCommands();

/** The reasons why blocks are not run, which follow `sh`, and a pattern that such a block must match. */
const reasons: Readonly<Record<string, RegExp>> = {
  'needs Google Cloud': /\bgcloud |\bterraform |\bfirebase-tools |--firestore |https:\/\/id\.example\.com/,
  'needs a deployment': /https:\/\/north\.example\.com/,
  'needs root': /\bsystemctl |--port 443|docker compose/,
  'runs until stopped': /npm start|identity -- serve|npm run function:|gcloud emulators/,
  'needs the Firestore emulator': /FIRESTORE_EMULATOR_HOST=/,
  'takes minutes': /npm ci|npm test|npm run (?:check|build|bench|package|test)/,
};

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

describe('the guarantees of SECURITY.md', async () => {
  const { text } = await readDocument('SECURITY.md');
  const [, chapter = ''] = /^## Guarantees$([\s\S]*?)^## /m.exec(text) ?? [];

  it('are those that have tests', () => {
    const listed = Array.from(chapter.matchAll(/^- (.*)$/gm), ([, item = '']) => item);
    expect(listed).toEqual(guarantees.map(({ guarantee }) => guarantee));
  });

  it.each(guarantees)('have tests, all of which exist: $guarantee', ({ tests }) => {
    expect(tests).not.toEqual([]);
    for (const [title, path] of tests) {
      // `it('title'`, `it.each(…)("title"` or Terraform's `run "title"`.
      const literal = title.replace(/[\^$.*+?()[\]{}|\\]/g, '\\$&');
      expect(readFileSync(join(root, path), 'utf8')).toMatch(new RegExp(`(?:\\(\\s*|^run )(['"\`])${literal}\\1`, 'm'));
    }
  });
});
