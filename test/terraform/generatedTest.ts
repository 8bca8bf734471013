import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { copyConfiguration } from './configurationCopy.ts';

/** Writes tests of Terraform in place of the configuration's own, and runs them. */
export async function expectSuccess(testsByName: Readonly<Record<string, string>>): Promise<void> {
  await using copy = await copyConfiguration();
  const directory = join(copy.directory, 'tests');
  for (const name of await readdir(directory)) if (name.endsWith('.tftest.hcl')) await rm(join(directory, name));
  for (const [name, text] of Object.entries(testsByName)) await writeFile(join(directory, `${name}.tftest.hcl`), text);
  const { failed, output } = await copy.check('.');
  // The settings are not indented in the generated tests.
  expect(
    failed.filter((step) => step !== 'fmt'),
    output,
  ).toEqual([]);
}

/** Writes a test of Terraform that applies settings: what is assigned in them is assigned in a test alike. The archives are the tests' own. */
export function appliedBy(assignments: string): string {
  return `
mock_provider "time" {}

mock_provider "google" {
  source = "./tests/mocks"
}

variables {
${assignments}
  dist_directory = "tests/archives"
}

run "applies" {
  assert {
    condition     = output.base_urls == { for id, instance in var.instances : id => "https://\${instance.domains[0]}" }
    error_message = "Each instance must be served at its domain."
  }
}
`;
}
