import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../../tools/program.ts';

const product = ['functions', 'shared', 'cli', 'local'];

/** Every file of this repository that a file imports, directly or indirectly. */
async function importsOf(file: string, known = new Set<string>()): Promise<Set<string>> {
  if (known.has(file)) return known;
  known.add(file);
  const text = await readFile(file, 'utf8');
  for (const [, specifier = ''] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
    const imported = join(dirname(file), specifier);
    expect(existsSync(imported), `${imported}, imported by ${file}`).toBe(true);
    await importsOf(imported, known);
  }
  return known;
}

describe('the tests that know an instance by its base URL only', () => {
  it.each(['acceptance', 'conformance'])('import nothing of the product: test/%s', async (name) => {
    const directory = join(root, 'test', name);
    const files = (await readdir(directory, { recursive: true })).filter((file) => file.endsWith('.ts'));
    expect(files.length).toBeGreaterThan(5);
    const imported = await Promise.all(files.map((file) => importsOf(join(directory, file))));
    const folders = new Set(imported.flatMap((paths) => [...paths]).map((path) => relative(root, path).split('/')[0]));
    expect([...folders].filter((folder) => product.includes(folder ?? ''))).toEqual([]);
  });
});
