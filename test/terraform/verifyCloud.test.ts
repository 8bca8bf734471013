import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { run } from '../../tools/program.ts';
import { resolveCommand } from '../../tools/verifyCloud/resolve.ts';
import { initTerraform } from '../../tools/verifyCloud/steps/deploy.ts';
import { variables } from '../../tools/verifyCloud/steps/terraform.ts';
import { systemPorts } from '../../tools/verifyCloud/systemPorts.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { checkConfiguration } from './configurationCopy.ts';
import { appliedBy } from './generatedTest.ts';
import { whyNoTerraform } from './whyNoTerraform.ts';

const FIVE_MINUTES = 300_000;

it.skipIf(whyNoTerraform() !== undefined)(
  'the copy and the variables of npm run verify:cloud can be applied',
  { timeout: FIVE_MINUTES },
  async () => {
    const directory = await temporaryDirectory();
    const values = new Map([
      ['PROJECT', 'acme-verify'],
      ['DOMAIN', 'verify.example.com'],
      ['REGION', 'europe-west1'],
      ['WORK', directory.path],
    ]);
    for (const action of initTerraform.actions) {
      if (action.kind !== 'command' || action.program === 'terraform') continue;
      const { code, stderr } = await systemPorts.run(resolveCommand(action, values), new AbortController().signal);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    }
    await run('git', ['init', '--quiet', directory.path]);
    const configuration = join(directory.path, 'terraform');
    const tests = join(configuration, 'tests');
    for (const name of await readdir(tests)) {
      if (name.endsWith('.tftest.hcl')) await writeFile(join(tests, name), '');
    }
    const content = z.record(z.string(), z.unknown()).parse(JSON.parse(variables(values, { log_level: 'debug' })));
    const assignments = Object.entries(content).filter(([name]) => name !== 'dist_directory');
    const lines = assignments.map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    await writeFile(join(tests, 'verify.tftest.hcl'), appliedBy(lines.join('\n')));
    const { failed, output } = await checkConfiguration(configuration, '.');
    // The generated test is not formatted.
    expect(
      failed.filter((step) => step !== 'fmt'),
      output,
    ).toEqual([]);
    await directory.remove();
  },
);
