import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { dependencyRows } from '../../support/markdown.ts';

const read = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const names = z.record(z.string(), z.string()).transform(Object.keys);
const { dependencies, devDependencies, optionalDependencies } = z
  .object({ dependencies: names, devDependencies: names, optionalDependencies: names })
  .parse(JSON.parse(read('package.json')));
const page = read('docs/dependencies.md');

describe('the page on dependencies', () => {
  it('has one row for each package that the service loads', () => {
    expect(dependencyRows(page).map(({ name }) => name)).toEqual(dependencies);
  });

  it('names the packages of development and the runtimes', () => {
    const unnamed = [...devDependencies, ...optionalDependencies].filter((name) => !page.includes(`\`${name}\``));
    expect(unnamed).toEqual([]);
  });
});
