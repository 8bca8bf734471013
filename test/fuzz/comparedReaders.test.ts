import { expect, it } from 'vitest';
import { compareReaders } from '../support/json/comparedReaders.ts';
import { repetitions } from '../support/repetitions.ts';
import { readersSection } from './support/readersReport.ts';
import { seed } from './support/seed.ts';

const documents = repetitions({ few: 20_000, many: 1_000_000 });

it('the readers of the command and of the server agree with JSON.parse', async ({ task }) => {
  const start = performance.now();
  const compared = await compareReaders(documents, seed);
  const minutes = (performance.now() - start) / 60_000;
  const date = new Date().toISOString().slice(0, 10);
  task.meta.comparedReaders = { ...compared, documents, seed, minutes, date };
  process.stdout.write(readersSection(task.meta.comparedReaders));
  expect(compared.accepted).toBeGreaterThan(documents / 10);
});
