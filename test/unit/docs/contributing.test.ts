import { glob, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFile(join(root, path), 'utf8');
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);

/** The paths that a code span stands for: `{a,b}` is each of its alternatives. */
function alternatives(path: string): string[] {
  const [, before, list, after] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(path) ?? [];
  if (before === undefined || list === undefined || after === undefined) return [path];
  return list.split(',').flatMap((part) => alternatives(`${before}${part}${after}`));
}

/** Whether the repository holds the path; `<name>` and `*` stand for any name. */
async function exists(path: string): Promise<boolean> {
  for await (const _ of glob(path.replace(/<\w+>/g, '*'), { cwd: root })) return true;
  return false;
}

/** Every path in a text's code spans: relative, with a slash or a file's extension. */
function pathsIn(text: string): string[] {
  const spans = matches(text, /(?<!`)`([^`\n]+)`(?!`)/g).flatMap((span) => span.split(' '));
  const isPath = (word: string) => /^[.\w<][^\s:]*$/.test(word) && /\/|\.(md|json|tf|ts)$/.test(word);
  return [...new Set(spans.filter(isPath).flatMap(alternatives))];
}

async function missing(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(exists));
  return paths.filter((_, index) => !found[index]);
}

describe.each(['CONTRIBUTING.md', '.github/pull_request_template.md'])('%s', (document) => {
  it('names paths that exist', async () => {
    const paths = pathsIn(await read(document));
    expect(paths.length).toBeGreaterThan(0);
    expect(await missing(paths)).toEqual([]);
  });

  it('names npm scripts that exist', async () => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(await read('package.json')));
    const named = matches(await read(document), /npm (?:run )?(?!ci\b|run\b)([\w:]+)/g);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

describe('CONTRIBUTING.md', () => {
  it('describes every kind of test', async () => {
    const text = await read('CONTRIBUTING.md');
    const kinds = matches(await read('vitest.config.ts'), /name: '(\w+)'/g);
    expect(kinds.length).toBeGreaterThan(0);
    expect(kinds.filter((kind) => !text.includes(`| \`test/${kind}/\` |`))).toEqual([]);
  });

  it('places every folder of shared', async () => {
    const text = await read('CONTRIBUTING.md');
    const entries = await readdir(join(root, 'shared'), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    expect(folders.filter((name) => !text.includes(`| \`shared/${name}/\` |`))).toEqual([]);
  });
});

describe.each([
  'CONTRIBUTING.md',
  'terraform/README.md',
  'terraform/modules/edge/README.md',
  'terraform/modules/instance/README.md',
])('the links of %s', (document) => {
  it('lead to files that exist', async () => {
    const links = matches(await read(document), /\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g);
    expect(links.length).toBeGreaterThan(0);
    expect(await missing(links.map((link) => join(dirname(document), link)))).toEqual([]);
  });
});

describe('the decisions', () => {
  it('have the sections of the template, and numbers without a gap', async () => {
    const names = (await readdir(join(root, 'docs/decisions'))).toSorted();
    expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, index) => index));
    for (const name of names) {
      const text = await read(`docs/decisions/${name}`);
      expect({ name, sections: matches(text, /^## (.*)$/gm) }).toEqual({
        name,
        sections: ['Context', 'Decision', 'Consequences'],
      });
      expect(text).toMatch(/^# (?:N|\d+)\. .+\n\nStatus: /);
    }
  });
});
