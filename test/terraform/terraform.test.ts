import { expect, it } from 'vitest';
import { run } from '../../tools/program.ts';
import { CHECK, COULD_NOT_RUN } from './configurationCopy.ts';
import { whyNoTerraform } from './whyNoTerraform.ts';

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
  expect(code, `${stdout}${stderr}`).toBe(0);
  const passed = [...stdout.matchAll(/^ok +(\w+) +terraform(\S*)$/gm)].map(([, step, module]) => `${step}${module}`);
  const modules = ['edge', 'instance', 'monitoring'].map((module) => `validate/modules/${module}`);
  expect(passed).toEqual(expect.arrayContaining(['fmt', 'validate', ...modules, 'test', 'test/modules/edge']));
});
