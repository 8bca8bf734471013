import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../../tools/program.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const [, guarantees = ''] = /^## Guarantees$([\s\S]*?)^## /m.exec(read('SECURITY.md')) ?? [];
const rows = guarantees
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| guarantee |'))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')))
  .map(([guarantee = '', tests = '']) => ({ guarantee, tests: namedTests(tests) }));

/** The tests that a cell names: links to their files, whose texts are the titles. */
function namedTests(cell: string): { title: string; path: string }[] {
  return [...cell.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, title = '', path = '']) => ({ title, path }));
}

/** Whether a file has a test with this title: `it('title'`, `it.each(…)("title"` or Terraform's `run "title"`. */
function hasTest(path: string, title: string): boolean {
  const literal = title.replace(/[\^$.*+?()[\]{}|\\]/g, '\\$&');
  return new RegExp(`(?:\\(\\s*|^run )(['"\`])${literal}\\1`, 'm').test(read(path));
}

describe('a guarantee of SECURITY.md', () => {
  it('is one of many', () => {
    expect(rows.length).toBeGreaterThan(25);
  });

  it.each(rows)('names tests, all of which exist: $guarantee', ({ tests }) => {
    expect(tests).not.toEqual([]);
    expect(tests.filter(({ path, title }) => !hasTest(path, title))).toEqual([]);
  });

  it('would not be held by a test that is not there', () => {
    expect(hasTest('test/unit/docs/security.test.ts', 'is one of many')).toBe(true);
    expect(hasTest('test/unit/docs/security.test.ts', 'is one of man')).toBe(false);
    expect(hasTest('test/unit/auth/token.test.ts', 'is one of many')).toBe(false);
  });
});
