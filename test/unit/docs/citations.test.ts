import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { anchors, internalLinks, sectionNumbers } from '../../support/markdown.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const notOurs = ['**/node_modules', 'coverage', 'dist', 'test/fixtures', 'package-lock.json'];
const patterns = ['**/*.{ts,tf,hcl,json,md}', '.github/**/*.md'];
const files = globSync(patterns, { cwd: root, exclude: notOurs }).map((path) => join(root, path));
const read = (path: string) => readFileSync(path, 'utf8');

/** A file's text with its comments' line breaks removed, so that a citation may be wrapped. */
const unwrapped = (path: string) => read(path).replace(/\s*\n\s*(?:\*|\/\/|#)\s+/g, ' ');
const placed = (path: string, found: string) => `${relative(root, path)}: ${found}`;

const documents = ['specification', 'zitadel'] as const;
const textOf = (name: string) => read(join(root, 'docs', `${name}.md`));
const sections = new Map(documents.map((name) => [String(name), new Set(sectionNumbers(textOf(name)))]));

const CITATION = /\b([Ss]pecification|zitadel) (\d+(?:\.\d+)*)/g;
const citations = files.flatMap((path) =>
  [...unwrapped(path).matchAll(CITATION)].map(([text, name = '', section = '']) => ({
    place: placed(path, text),
    resolves: sections.get(name.toLowerCase())?.has(section) === true,
  })),
);

/** Forms in which documents outside the repository were cited: by a bare name, possessive or parenthesised. */
const OUTSIDE = /\b(?:interface|contract)(?:['’]s)? \(?\d|\binterface['’]s(?: [\w-]+){1,3} \(\d{1,2}(?!\d)/gi;

describe('citations', () => {
  it('of the specification and of ZITADEL’s contract lead to sections', () => {
    expect(citations.length).toBeGreaterThan(90);
    expect(citations.filter(({ resolves }) => !resolves).map(({ place }) => place)).toEqual([]);
  });

  it('of documents outside the repository are gone', () => {
    const found = files.flatMap((path) => [...unwrapped(path).matchAll(OUTSIDE)].map(([text]) => placed(path, text)));
    expect(found).toEqual([]);
  });
});

describe.each(documents)('docs/%s.md', (name) => {
  it('numbers its sections without a gap', () => {
    const numbers = sectionNumbers(textOf(name));
    expect(numbers.length).toBeGreaterThan(20);
    const counts = new Map<string, number>();
    for (const number of numbers) {
      const parent = number.split('.').slice(0, -1).join('.');
      const next = (counts.get(parent) ?? 0) + 1;
      counts.set(parent, next);
      expect(number).toBe(parent === '' ? `${next}` : `${parent}.${next}`);
    }
  });

  it('refers to sections that it has', () => {
    const referred = [...textOf(name).matchAll(/\((\d+\.\d+)\)/g)].map(([, section = '']) => section);
    expect(referred.length).toBeGreaterThan(0);
    expect(referred.filter((section) => !sections.get(name)?.has(section))).toEqual([]);
  });
});

describe('links between Markdown files', () => {
  const links = files
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) => internalLinks(read(path)).map((link) => ({ ...link, from: path })));
  const targetOf = ({ from, path }: { from: string; path: string }) => (path === '' ? from : join(dirname(from), path));

  it('lead to files', () => {
    expect(links.length).toBeGreaterThan(5);
    const broken = links.filter((link) => !existsSync(targetOf(link)));
    expect(broken.map(({ from, path }) => placed(from, path))).toEqual([]);
  });

  it('lead to headings where they have an anchor', () => {
    const anchored = links.flatMap((link) => (link.anchor === undefined ? [] : [{ ...link, anchor: link.anchor }]));
    expect(anchored.length).toBeGreaterThan(0);
    const broken = anchored.filter(
      (link) => existsSync(targetOf(link)) && !anchors(read(targetOf(link))).has(link.anchor),
    );
    expect(broken.map(({ from, path, anchor }) => placed(from, `${path}#${anchor}`))).toEqual([]);
  });
});
