import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { GivenValues } from '../../cli/command.ts';
import { createProgram } from '../../cli/commandLine.ts';
import { parseValues } from '../../cli/parseValues.ts';
import { parsePlace } from '../../cli/places/parsePlace.ts';
import { root } from '../../tools/program.ts';
import { readTerraform } from './terraformFiles.ts';

/** The calls of `identity` in a text, each as gcloud splits it: by what stands between the carets. */
function callsIn(text: string): string[][] {
  return [...text.matchAll(/--args='\^(.)\^([^']+)'/g)].map(([, separator = '', list = '']) => list.split(separator));
}

/** Parses a call as the command does, up to its run. */
async function parseCall(words: readonly string[]): Promise<readonly [name: string, given: GivenValues]> {
  const parsed = Promise.withResolvers<readonly [string, GivenValues]>();
  const program = createProgram(async (command, given) => {
    await parseValues(command, given);
    parsed.resolve([command.name, given]);
  });
  program.configureOutput({ writeOut: () => {} });
  await program.parseAsync([...words], { from: 'user' });
  return parsed.promise;
}

it.each([
  ["what Terraform's output says", () => readTerraform('modules/instance/tests/job.tftest.hcl'), ['export', 'import']],
  [
    'what docs/operations-google-cloud.md shows',
    () => readFile(join(root, 'docs/operations-google-cloud.md'), 'utf8'),
    ['import'],
  ],
] as const)('a job can execute %s', async (_, read, names) => {
  const calls = await Promise.all(callsIn(await read()).map(parseCall));
  expect(calls.map(([name]) => name)).toEqual(names);
  for (const [name, { positionals, options }] of calls) {
    const kinds = [...positionals, ...(options.to ?? [])].map((place) => parsePlace(place).kind);
    expect(kinds).toEqual(name === 'export' ? ['firestore', 'object'] : ['object', 'firestore']);
    expect(options.with).toEqual([name === 'export' ? 'passwords,otp,keys' : 'all']);
  }
});

it('executes without arguments of its own what changes nothing', async () => {
  const [, argument = ''] = /^ +args = \["(\S+)"\]$/m.exec(await readTerraform('modules/instance/job.tf')) ?? [];
  await expect(parseCall([argument])).rejects.toMatchObject({ code: 'commander.helpDisplayed', exitCode: 0 });
});
