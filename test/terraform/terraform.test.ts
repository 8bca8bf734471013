import { expect, it } from 'vitest';
import { run } from '../../tools/program.ts';
import { CHECK, COULD_NOT_RUN } from './configurationCopy.ts';
import { whyNoTerraform } from './whyNoTerraform.ts';

const directories = [
  'terraform',
  'terraform/modules/edge',
  'terraform/modules/instance',
  'terraform/modules/monitoring',
];
const lines = directories.flatMap((directory) => {
  const steps = directory.endsWith('monitoring') ? ['init', 'validate'] : ['init', 'validate', 'test'];
  return steps.map((step) => `ok    ${step.padEnd(9)} ${directory}`);
});

it('the Terraform configuration passes fmt, init, validate and its own tests', async (test) => {
  const skip = (reason: string) => {
    process.stderr.write(`The checks of Terraform are skipped: ${reason}\n`);
    // biome-ignore lint/suspicious/noSkippedTests: whether providers can be had shows only here, and the reason is printed
    test.skip(reason);
  };
  const reason = whyNoTerraform();
  if (reason !== undefined) return skip(reason);
  const { code, stdout, stderr } = await run(CHECK, ['terraform']);
  if (code === COULD_NOT_RUN) return skip(stderr);
  expect(`${stdout}${stderr}`).not.toContain('FAIL');
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(['ok    fmt       terraform', ...lines]));
  expect(code).toBe(0);
});
