import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { root, run } from '../../../tools/program.ts';

const github = join(root, '.github');
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);

const names = await readdir(join(github, 'workflows'));
const texts = await Promise.all(names.map((name) => readFile(join(github, 'workflows', name), 'utf8')));
const workflows = texts.map((text, index) => ({ name: names[index] ?? '', text }));

describe.each(workflows)('the workflow $name', ({ name, text }) => {
  it('pins each action by its commit, with a comment of its version', () => {
    const actions = matches(text, /^\s*(?:- )?uses: (.*)$/gm);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('may read the repository, and may write only to draft a release', () => {
    expect(text).toMatch(/^permissions:\n {2}contents: read\n\n/m);
    const granted = matches(text, /^ {4}permissions:\n((?: {6}.*\n)+)/gm);
    expect(granted).toEqual(name === 'release.yml' ? ['      contents: write\n'] : []);
    expect(matches(text, /(permissions:)/g)).toHaveLength(1 + granted.length);
  });
});

describe('the workflows', () => {
  it('run the same checks as continuous integration elsewhere', () => {
    expect(texts.join('\n')).toMatch(/^ +run: \.ci\/run$/m);
    const release = workflows.find(({ name }) => name === 'release.yml')?.text;
    expect(release).toMatch(/^on:\n {2}push:\n {4}tags: \['v\*'\]\n/m);
    expect(release).toMatch(/^ +run: \.ci\/release "\$GITHUB_REF_NAME"$/m);
  });

  it('release only the tag of the version', async () => {
    const { version } = packageJson;
    const stderr = `the tag v0.0.9 is not v${version}, the version of package.json\n`;
    expect(await run('.ci/release', ['v0.0.9'])).toEqual({ code: 1, stdout: '', stderr });
  });
});

describe('the dependency bot', () => {
  it('watches directories that exist', async () => {
    const text = await readFile(join(github, 'dependabot.yml'), 'utf8');
    const directories = matches(text, /^ +(?:directory:|-) (\/.*)$/gm);
    expect(directories.length).toBeGreaterThan(0);
    for (const directory of directories) await access(join(root, directory));
  });
});
