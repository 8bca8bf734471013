import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const github = join(root, '.github');
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);

const names = await readdir(join(github, 'workflows'));
const texts = await Promise.all(names.map((name) => readFile(join(github, 'workflows', name), 'utf8')));
const workflows = texts.map((text, index) => ({ name: names[index] ?? '', text }));

describe.each(workflows)('the workflow $name', ({ text }) => {
  it('pins each action by its commit, with the version beside it', () => {
    const actions = matches(text, /^\s*(?:- )?uses: (.*)$/gm);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('may read the repository and nothing else', () => {
    expect(matches(text, /^( *)permissions:/gm)).toEqual(['']);
    expect(text).toMatch(/^permissions:\n {2}contents: read\n\n/m);
  });
});

describe('the workflows', () => {
  it('run what continuous integration runs anywhere', () => {
    expect(texts.join('\n')).toMatch(/^ +run: \.ci\/run$/m);
  });
});

describe('the dependency bot', () => {
  it('looks into directories that exist', async () => {
    const text = await readFile(join(github, 'dependabot.yml'), 'utf8');
    const directories = matches(text, /^ +(?:directory:|-) (\/.*)$/gm);
    expect(directories.length).toBeGreaterThan(0);
    for (const directory of directories) await access(join(root, directory));
  });
});
