import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { compareReaders } from '../support/json/comparedReaders.ts';
import { repetitions } from '../support/repetitions.ts';

const documents = repetitions({ few: 10_000, many: 1_000_000 });

it('the readers of the command and of the server accept the same texts as JSON.parse, and find the same values', async () => {
  const seed = Number(process.env.FUZZ_SEED ?? randomInt(1_000_000_000));
  process.stderr.write(`readers: FUZZ_SEED=${seed}\n`);
  const { accepted } = await compareReaders(documents, seed);
  expect(accepted).toBeGreaterThan(documents / 10);
});
