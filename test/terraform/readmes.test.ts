import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { attributesTable, inputsTable, outputsTable, withTable } from './interfaceTables.ts';
import { readTerraform, terraformDirectory } from './terraformFiles.ts';

const README = 'README.md';

// `npm run test:terraform -- readmes -u` updates the tables.

/** Reads every `.tf` file of the configuration whose name begins with `prefix` into one text. */
async function readAll(prefix: string): Promise<string> {
  const names = (await readdir(terraformDirectory)).filter((name) => name.endsWith('.tf'));
  const files = names.filter((name) => name.startsWith(prefix)).toSorted();
  return (await Promise.all(files.map(readTerraform))).join('\n');
}

it("the README of terraform/ lists the configuration's inputs and outputs", async () => {
  const variables = await readAll('variables');
  const inputs = withTable(await readTerraform(README), 'Inputs', inputsTable(variables));
  const both = withTable(inputs, 'Outputs', outputsTable(await readAll('outputs')));
  const expected = withTable(both, 'Settings of an instance', attributesTable(variables, 'instances'));
  await expect(expected).toMatchFileSnapshot(join(terraformDirectory, README));
});

it('the README of terraform/ names files that exist', async () => {
  const named = [...(await readTerraform(README)).matchAll(/`([\w./]+\.(?:tf|json))`/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(0);
  for (const name of named) await access(join(terraformDirectory, name));
});
