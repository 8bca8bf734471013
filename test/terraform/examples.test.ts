import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appliedBy, expectSuccess } from './generatedTest.ts';
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
    const settings = examples.map(async (name) => {
      const assignments = await readTerraform(join('examples', name, SETTINGS));
      return [name, appliedBy(assignments)] as const;
    });
    await expectSuccess(Object.fromEntries(await Promise.all(settings)));
  });
});
