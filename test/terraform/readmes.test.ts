import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attributesTable, inputsTable, outputsTable, withTable } from './interfaceTables.ts';
import { readTerraform, terraformDirectory } from './terraformFiles.ts';

const modules = ['modules/edge', 'modules/instance', 'modules/monitoring'];

// `npm run test:terraform -- readmes -u` updates the tables.

/** Every `.tf` file of a directory whose name begins with `prefix`, in one text. */
async function readAll(directory: string, prefix: string): Promise<string> {
  const names = (await readdir(join(terraformDirectory, directory))).filter((name) => name.endsWith('.tf'));
  const files = names.filter((name) => name.startsWith(prefix)).toSorted();
  return (await Promise.all(files.map((name) => readTerraform(join(directory, name))))).join('\n');
}

/** The README of a directory with its tables made from the configuration. */
async function withTables(directory: string, readme: string): Promise<string> {
  const variables = await readAll(directory, 'variables');
  const inputs = withTable(readme, 'Inputs', inputsTable(variables));
  const outputs = await readAll(directory, 'outputs');
  const both = outputs === '' ? inputs : withTable(inputs, 'Outputs', outputsTable(outputs));
  const heading = 'Settings of an instance';
  return directory === '.' ? withTable(both, heading, attributesTable(variables, 'instances')) : both;
}

describe.each(['.', ...modules])('the README of terraform/%s', (directory) => {
  const path = join(directory, 'README.md');

  it("lists the configuration's inputs and outputs", async () => {
    const expected = await withTables(directory, await readTerraform(path));
    await expect(expected).toMatchFileSnapshot(join(terraformDirectory, path));
  });

  it('names files that exist', async () => {
    const readme = await readTerraform(path);
    const named = [...readme.matchAll(/`([\w./]+\.(?:tf|json))`/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) await access(join(terraformDirectory, directory, name));
  });
});

describe.each(modules)('the README of terraform/%s', (directory) => {
  it('names the versions that it requires', async () => {
    const versions = await readTerraform(join(directory, 'versions.tf'));
    const [, terraform] = /required_version = "(.*)"/.exec(versions) ?? [];
    const providers = [...versions.matchAll(/source += "(.*)"\n +version = "(.*)"/g)].map(
      ([, source, range]) => `\`${source}\` \`${range}\``,
    );
    expect(await readTerraform(join(directory, 'README.md'))).toContain(
      `It requires Terraform \`${terraform}\` and the provider${providers.length > 1 ? 's' : ''} ${providers.join(' and ')}.`,
    );
  });
});
