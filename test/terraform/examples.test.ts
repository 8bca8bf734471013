import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyConfiguration } from './configurationCopy.ts';
import { appliedBy } from './generatedTest.ts';
import { readTerraform, terraformDirectory } from './terraformFiles.ts';
import { whyNoTerraform } from './whyNoTerraform.ts';

const SETTINGS = 'terraform.tfvars';

const entries = await readdir(join(terraformDirectory, 'examples'), { withFileTypes: true });
const examples = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);

describe('the examples', () => {
  it('are listed', async () => {
    const readme = await readTerraform('examples/README.md');
    const listed = [...readme.matchAll(/^\| \[`([\w-]+)`\]/gm)].map(([, name]) => name);
    expect(listed.toSorted()).toEqual(examples.toSorted());
  });

  it.each(['README.md', '../docs/deploying.md'])('include the settings that %s shows', async (page) => {
    const [, shown] = /^```hcl\n([\s\S]*?)^```$/m.exec(await readTerraform(page)) ?? [];
    expect(shown).toBe(await readTerraform(`examples/minimal/${SETTINGS}`));
  });

  it.skipIf(whyNoTerraform() !== undefined)('can be applied', async () => {
    await using copy = await copyConfiguration();
    const tests = join(copy.directory, 'tests');
    for (const name of await readdir(tests)) {
      if (name.endsWith('.tftest.hcl')) await writeFile(join(tests, name), '');
    }
    for (const name of examples) {
      const assignments = await readFile(join(copy.directory, 'examples', name, SETTINGS), 'utf8');
      await writeFile(join(tests, `${name}.tftest.hcl`), appliedBy(assignments));
    }
    const { failed, output } = await copy.check('.');
    // The settings are not indented in the generated tests.
    expect(
      failed.filter((step) => step !== 'fmt'),
      output,
    ).toEqual([]);
  });
});
