import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { run } from '../../tools/program.ts';
import { copyConfiguration, strict, variables } from '../cloud/deployment.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { checkConfiguration } from './configurationCopy.ts';
import { appliedBy } from './generatedTest.ts';
import { whyNoTerraform } from './whyNoTerraform.ts';

const cloud = { project: 'acme-test', domain: 'test.example.com', region: 'europe-west1' };
const TWENTY_MINUTES = 1_200_000;

it.skipIf(whyNoTerraform() !== undefined)(
  'the copy and the variables of npm run test:cloud can be applied',
  { timeout: TWENTY_MINUTES },
  async () => {
    const directory = await temporaryDirectory();
    await copyConfiguration(directory.path, strict(run));
    await run('git', ['init', '--quiet', directory.path]);
    const configuration = join(directory.path, 'terraform');
    const tests = join(configuration, 'tests');
    for (const name of await readdir(tests)) {
      if (name.endsWith('.tftest.hcl')) await writeFile(join(tests, name), '');
    }
    const content = z.record(z.string(), z.unknown()).parse(JSON.parse(variables(cloud, { log_level: 'debug' })));
    const assignments = Object.entries(content).filter(([name]) => name !== 'dist_directory');
    const lines = assignments.map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    await writeFile(join(tests, 'cloud.tftest.hcl'), appliedBy(lines.join('\n')));
    const { failed, output } = await checkConfiguration(configuration, '.');
    // The generated test is not formatted.
    expect(
      failed.filter((step) => step !== 'fmt'),
      output,
    ).toEqual([]);
    await directory.remove();
  },
);
