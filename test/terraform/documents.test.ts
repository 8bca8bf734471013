import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../cli/commands.ts';
import { root } from '../../tools/program.ts';
import { tableUnder } from '../support/documents/documentation.ts';
import { readTerraform, terraformDirectory } from './terraformFiles.ts';

const documents = ['docs/deploying.md', 'docs/operations-google-cloud.md'];
const texts = await Promise.all(documents.map((path) => readFile(join(root, path), 'utf8')));
const [deploying = '', operations = ''] = texts;

/** All of the configuration in a directory of it. */
async function configuration(directory: string): Promise<string> {
  const files = (await readdir(join(terraformDirectory, directory))).filter((name) => name.endsWith('.tf'));
  return (await Promise.all(files.map((name) => readTerraform(join(directory, name))))).join('\n');
}

const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);

describe.each(documents.map((name, index) => ({ name, text: texts[index] ?? '' })))('$name', ({ text }) => {
  it('names resources of an instance that there are', async () => {
    const named = matches(text, /module\.instance\["\w+"\]\.(\w+\.\w+)/g);
    const instance = await configuration('modules/instance');
    expect(named.length).toBeGreaterThan(0);
    for (const address of named) expect(instance).toContain(`resource "${address.replace('.', '" "')}" {`);
  });

  it('names outputs that there are', async () => {
    const outputs = await readTerraform('outputs.tf');
    const named = matches(text, /terraform (?:-chdir=terraform )?output (\w+)/g);
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect(outputs).toContain(`output "${name}" {`);
  });

  it('names commands of identity that there are', () => {
    const known = commands.map(({ name }) => name);
    const called = matches(text, /npm run -s identity -- ([a-z]\S*(?: [a-z]\S*)?)/g);
    expect(called.length).toBeGreaterThan(0);
    const unknown = called.filter((command) => !known.some((name) => `${command} `.startsWith(`${name} `)));
    expect(unknown).toEqual([]);
  });
});

describe('the deployment manual', () => {
  it('shows the example of the settings as it is', async () => {
    const example = await readTerraform('terraform.tfvars.example');
    expect(deploying).toContain(`\`\`\`hcl\n${example.trimEnd()}\n\`\`\``);
  });
});

describe('the operations manual', () => {
  it('says of each alert what to do', async () => {
    const alerts = matches(await configuration('modules/monitoring'), /display_name +=\s"identity: ([^"]*)"/g);
    const described = tableUnder(operations, 'Alarms').map(([alert]) => alert);
    expect(alerts).toHaveLength(7);
    expect(described.toSorted()).toEqual(alerts.toSorted());
  });

  it('gives the source of each statement, or says that a real run settles it, or that nothing does', () => {
    const sources = tableUnder(operations, 'Sources').map(([, source = '']) => source);
    expect(sources.length).toBeGreaterThan(15);
    for (const source of sources)
      expect(source).toMatch(
        /^<https:\/\/[^>]+>|^\[decision \d+\]|^tested here |^to be settled by the first real run$|^not documented, /,
      );
  });

  it('names every setting of a function that can be raised', async () => {
    const settings = await readTerraform('modules/instance/settings.tf');
    for (const name of ['memory', 'heap', 'max_instances']) {
      expect(settings).toMatch(new RegExp(`^ +${name} +=`, 'm'));
      expect(operations).toContain(`\`${name}\``);
    }
  });
});
