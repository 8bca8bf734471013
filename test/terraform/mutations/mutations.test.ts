import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repetitions } from '../../support/repetitions.ts';
import { whyNoTerraform } from '../whyNoTerraform.ts';
import { findWitness } from './mutant.ts';
import { type MutationOutcome, mutations } from './table.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The mistake that the test has made, and what noticed it. */
    mutation?: MutationOutcome;
  }
}

const reason = whyNoTerraform();
if (reason !== undefined) process.stderr.write(`The mistakes in the configuration are skipped: ${reason}\n`);

const STEP = repetitions({ few: 8, many: 1 });
const tried = mutations.filter((_, index) => index % STEP === 0);
const directoryOf = (file: string) => (file.startsWith('modules/') ? dirname(file) : '.');

describe.skipIf(reason !== undefined)('the tests of the configuration', () => {
  // Otherwise they would notice everything.
  it.each([...new Set(tried.map(({ file }) => directoryOf(file)))])(
    'find no mistake in %s as it is',
    async (directory) => {
      expect(await findWitness(directory)).toBeUndefined();
    },
  );

  it.for(tried)('notice a mistake in $file: $promise', async (mutation, { task }) => {
    const witness = await findWitness(directoryOf(mutation.file), mutation);
    expect(witness).toBeDefined();
    if (witness !== undefined) task.meta.mutation = { mutation, witness };
  });
});
