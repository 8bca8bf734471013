import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands } from '../../cli/commands/commands.ts';
import { instanceOptions } from '../../cli/places/instanceLocation.ts';

const root = join(import.meta.dirname, '../..');
// The names in a style sheet begin with two dashes as well.
const paths = globSync('{cli,functions,shared}/**/*.ts', { cwd: root }).filter(
  (path) => path !== 'cli/report/style.ts',
);
const lines = paths.flatMap((path) =>
  readFileSync(join(root, path), 'utf8')
    .split('\n')
    .map((text) => ({ path, text })),
);

const general = ['help', 'version', ...Object.keys(instanceOptions)];
const curl = ['data-binary', 'fail', 'header', 'raw', 'request'];

/** Lists the options in lines that neither these commands nor those that the line names define. */
function undefinedOptions(given: typeof lines, own: typeof commands): string[] {
  return given.flatMap(({ path, text }) => {
    const named = commands.filter(({ name }) => name.includes(' ') && text.includes(`${name} `));
    const defined = [...own, ...named].flatMap(({ options }) => Object.keys(options));
    const known = new Set([...general, ...defined, ...(/curl|x-zitadel-orgid/.test(text) ? curl : [])]);
    return optionsIn(text).flatMap((name) => (known.has(name) ? [] : [`${path}: --${name}`]));
  });
}

function optionsIn(text: string): string[] {
  return [...text.matchAll(/(?<![\w-])--([a-z]+(?:-[a-z]+)*)(?![\w-])/g)].map(([, name = '']) => name);
}

it.each([
  ['the sources', '', commands, 200],
  ['a migration', 'cli/migrate/', commands.filter(({ name }) => name === 'migrate'), 30],
])('every option in the texts of %s is defined by their commands', (_of, start, own, least) => {
  const chosen = lines.filter(({ path }) => path.startsWith(start));
  expect(chosen.flatMap(({ text }) => optionsIn(text)).length).toBeGreaterThan(least);
  expect(undefinedOptions(chosen, own)).toEqual([]);
});
