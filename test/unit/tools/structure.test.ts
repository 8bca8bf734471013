import { describe, expect, it } from 'vitest';
import { layerViolations, unplacedFiles } from '../../../tools/structure/layers.ts';
import { parseSource } from '../../../tools/structure/sources.ts';

/** Parses a file of which only its place and its imports matter. */
const file = (path: string, ...specifiers: string[]) =>
  parseSource(path, specifiers.map((specifier) => `import '${specifier}';\n`).join(''));

describe('a source', () => {
  const text = `import { readFile } from 'node:fs';
import '../a.ts';
import {
  type B,
} from './b.ts';
import type { C } from '../../c/c.ts';
export * from './e.ts';
import json from './data.json' with { type: 'json' };
const load = () => import('./f.ts');
// import './h.ts';
`;

  it('has imports of other files, in every syntax', () => {
    const imports = ['shared/a.ts', 'shared/http/b.ts', 'c/c.ts', 'shared/http/e.ts', 'shared/http/f.ts'];
    expect(parseSource('shared/http/some.ts', text).imports).toEqual(imports);
  });
});

describe('layers', () => {
  const rows = [['low/one', 'low/two'], ['middle/*'], ['high', 'high/low']];
  const reasons = (path: string, ...specifiers: string[]) =>
    layerViolations([file(path, ...specifiers)], rows).map(({ reason }) => reason);

  it('allow a part to import itself and the layers below', () => {
    expect(reasons('high/index.ts', './other.ts', '../middle/a/b.ts', '../low/one.ts')).toEqual([]);
    expect(reasons('middle/a/b/c.ts', '../d.ts', '../../../low/two/x.ts')).toEqual([]);
  });

  it('forbid imports from above, beside or outside', () => {
    expect(reasons('low/one.ts', '../middle/a/b.ts')).toEqual(['low/one imports middle/a, which is above it']);
    expect(reasons('low/one/x.ts', '../two.ts')).toEqual(['low/one imports low/two, which is in the same layer']);
    expect(reasons('middle/a/x.ts', '../b/x.ts')).toEqual(['middle/a imports middle/b, which is in the same layer']);
    expect(reasons('high/x.ts', './low/y.ts')).toEqual(['high imports high/low, which is in the same layer']);
    expect(reasons('high.ts', './test/support/x.ts')).toEqual(['it has no layer']);
  });

  it('forbid a folder to import a part whose contract it should import', () => {
    const withContracts = [['middle/*/contract'], ['middle/*'], ['high']];
    const bars = [{ folder: 'high/', parts: 'middle/*', instead: 'its contract' }];
    const imports = (...specifiers: string[]) =>
      layerViolations([file('high/x.ts', ...specifiers)], withContracts, bars).map(({ reason }) => reason);
    expect(imports('../middle/a/contract.ts')).toEqual([]);
    expect(imports('../middle/a/operation.ts')).toEqual(['import its contract']);
  });

  it('list the files that belong to none of them', () => {
    const sources = [file('low/three.ts', '../high/x.ts'), file('middle/x.ts'), file('high/low/x.ts')];
    expect(unplacedFiles(sources, rows)).toEqual(['low/three.ts', 'middle/x.ts']);
  });
});
