import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { opensAsQuestion } from '../../../tools/structure/docComments.ts';
import { distribution } from '../../../tools/structure/figures.ts';
import { filesWithOneImporter, importCycles } from '../../../tools/structure/imports.ts';
import { layers, layerViolations, unplacedFiles } from '../../../tools/structure/layers.ts';
import { parseSource, readSources } from '../../../tools/structure/sources.ts';

const parse = (...lines: string[]) => parseSource('shared/http/some.ts', lines.join('\n'));

/** Parses a file of which only its place and its imports matter. */
const file = (path: string, ...specifiers: string[]) =>
  parseSource(path, specifiers.map((specifier) => `import '${specifier}';\n`).join(''));

describe('a source', () => {
  it('has lines of code: those that are neither blank nor comment', () => {
    const { lines, codeLines } = parse(
      '// a comment',
      '',
      '/*',
      ' * another',
      ' */',
      'const address = `https://example.com',
      '// of the template`; // and a comment behind it',
      'const quotes = /"\\/*/; /* é */ const text = "/* no comment */";',
      '',
    );
    expect({ lines, codeLines }).toEqual({ lines: 8, codeLines: 3 });
  });

  it('has imports of other files, whichever way they are written', () => {
    const { imports } = parse(
      "import { readFile } from 'node:fs';",
      "import '../a.ts';",
      'import {',
      '  type B,',
      "} from './b.ts';",
      "import type { C } from '../../c/c.ts';",
      "export { d } from './d.ts';",
      "export * from './e.ts';",
      "import json from './data.json' with { type: 'json' };",
      "const load = () => import('./f.ts');",
      "const text = `import './g.ts'`;",
      "// import './h.ts';",
    );
    const statements = ['shared/a.ts', 'shared/http/b.ts', 'c/c.ts', 'shared/http/d.ts', 'shared/http/e.ts'];
    expect(imports).toEqual([
      ...statements.map((target) => ({ target, isStatement: true })),
      { target: 'shared/http/f.ts', isStatement: false },
    ]);
  });

  it('has functions of all kinds', () => {
    const { functionLines } = parse(
      'function outer() {',
      '  return [1].map((n) => n);',
      '}',
      'declare function unwritten(): void;',
      'class Some {',
      '  get field() { return 1; }',
      '  method = async () => {',
      '  };',
      '}',
    );
    expect(functionLines.toSorted()).toEqual([1, 1, 2, 3]);
  });

  it('has names of functions and constants, exported or not', () => {
    const { declared } = parse(
      'export function a(b: string) { const c = b; return c; }',
      'export const d = 1, e = 2;',
      'type F = string;',
      'class G { h() {} }',
    );
    const names = (exported: boolean) => declared.filter((each) => each.exported === exported).map(({ name }) => name);
    expect({ exported: names(true), others: names(false) }).toEqual({ exported: ['a', 'd', 'e'], others: ['c', 'h'] });
  });
});

describe('a doc comment', () => {
  const questions = (...lines: string[]) =>
    parse(...lines)
      .docComments.filter(opensAsQuestion)
      .map(({ line, opening }) => [line, opening]);

  it('is known by its first word', () => {
    expect(
      questions(
        '/** What é is. */',
        'const a = 1;',
        '/**',
        ' * How b works.',
        ' */',
        'function b() {}',
        '// What c is.',
      ),
    ).toEqual([
      [1, 'What'],
      [3, 'How'],
    ]);
    expect(questions('/** Reads. */', 'function a() {}', 'const text = "/** Where */";', '/** Whatever */')).toEqual(
      [],
    );
  });

  it('may open with Whether on a boolean', () => {
    expect(
      questions(
        '/** Whether a. */',
        'export function a(value: unknown): value is string { return true; }',
        '/** Whether b. */',
        'export const b = async (): Promise<boolean> => true;',
        'interface C {',
        '  /** Whether d. */',
        '  readonly d?: boolean | undefined;',
        '  /** Whether e. */',
        '  e(): boolean;',
        '  /** Whether f. */',
        '  readonly f?: true;',
        '}',
      ),
    ).toEqual([]);
    expect(questions('/** Whether a. */', 'export function a(): string | undefined { return "" }')).toEqual([
      [1, 'Whether'],
    ]);
    expect(questions('/** How b. */', 'export const b = true;')).toEqual([[1, 'How']]);
  });
});

describe('figures', () => {
  it('take the median and the 95th percentile by nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(distribution(hundred)).toEqual({ count: 100, median: 50, p95: 95, max: 100 });
    expect(distribution([7, 3, 5])).toEqual({ count: 3, median: 5, p95: 7, max: 7 });
  });

  it('name the files that only one file imports, in the same folder', () => {
    const sources = [
      file('a/a.ts', './b.ts', './b.ts', './c.ts', '../d/d.ts'),
      file('a/b.ts', './c.ts'),
      file('a/c.ts'),
    ];
    expect(filesWithOneImporter([...sources, file('d/d.ts')])).toEqual([{ path: 'a/b.ts', importer: 'a/a.ts' }]);
  });

  it('name the import cycles', () => {
    const sources = [file('a.ts', './b.ts'), file('b.ts', './c.ts', './d.ts'), file('c.ts', './b.ts'), file('d.ts')];
    expect(importCycles(sources)).toEqual([['b.ts', 'c.ts']]);
    expect(importCycles([file('a.ts', './b.ts', './c.ts'), file('b.ts', './c.ts'), file('c.ts')])).toEqual([]);
  });
});

describe('layers', () => {
  const rows = [['low/one', 'low/two'], ['middle/*'], ['high']];
  const reasons = (path: string, ...specifiers: string[]) =>
    layerViolations([file(path, ...specifiers)], rows).map(({ reason }) => reason);

  it('let a part import itself and what is below', () => {
    expect(reasons('high/index.ts', './other.ts', '../middle/a/b.ts', '../low/one.ts')).toEqual([]);
    expect(reasons('middle/a/b/c.ts', '../d.ts', '../../../low/two/x.ts')).toEqual([]);
  });

  it('forbid imports of what is above, beside or outside', () => {
    expect(reasons('low/one.ts', '../middle/a/b.ts')).toEqual(['middle/a is above low/one']);
    expect(reasons('low/one/x.ts', '../two.ts')).toEqual(['low/two is beside low/one']);
    expect(reasons('middle/a/x.ts', '../b/x.ts')).toEqual(['middle/b is beside middle/a']);
    expect(reasons('high.ts', './test/support/x.ts')).toEqual(['high may import the product only']);
  });

  it('cover every file, or name it', () => {
    const sources = [
      file('low/three.ts', '../high/x.ts'),
      file('middle/x.ts'),
      file('high/low/x.ts', '../../low/three.ts'),
    ];
    expect(unplacedFiles(sources, rows)).toEqual(['low/three.ts', 'middle/x.ts']);
    expect(layerViolations(sources, rows)).toEqual([]);
  });

  it('hold in the product, which has no import cycles either', async () => {
    const sources = await readSources(resolve(import.meta.dirname, '../../..'));
    expect(sources.length).toBeGreaterThan(layers.length);
    const found = {
      violations: layerViolations(sources),
      unplaced: unplacedFiles(sources),
      cycles: importCycles(sources),
    };
    expect(found).toEqual({ violations: [], unplaced: [], cycles: [] });
  });
});
