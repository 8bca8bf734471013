import fc from 'fast-check';
import { expect, it } from 'vitest';
import { randomOf } from '../faults/support/random.ts';
import { repetitions } from '../support/repetitions.ts';
import { readDatabase } from '../support/stores/database.ts';
import { describeStores, type StoreKind } from '../support/stores/stores.ts';
import { modelOf } from './contents.ts';
import type { Step } from './step.ts';
import { anySteps } from './steps.ts';
import { systemOn } from './system.ts';

const STEPS = repetitions({ few: 500, many: 10_000 });
const MAX_STEPS_OF_RUN = 100;

describeStores('a random state machine', (kind) => {
  it(`holds in its database what the model does, after each of ${STEPS} steps`, async () => {
    const random = randomOf(`machine (${kind.name})`);
    let steps = 0;
    let hasFailed = false;
    const property = fc.asyncProperty(commands, async (run) => {
      if (steps >= STEPS && !hasFailed) return;
      try {
        await drive(kind, run, () => {
          steps++;
        });
      } catch (reason) {
        hasFailed = true;
        throw reason;
      }
    });
    await fc.assert(property, { seed: Math.floor(random() * 2 ** 31), numRuns: STEPS });
    expect(steps).toBeGreaterThanOrEqual(STEPS);
  });
});

const commands = fc.commands([...anySteps], {
  maxCommands: MAX_STEPS_OF_RUN,
  size: 'max',
});

/** Drives an instance with an empty database. */
async function drive(kind: StoreKind, run: Iterable<Step>, onStep: () => void): Promise<void> {
  const system = await systemOn(await kind.newLocation(), onStep);
  const { store } = system;
  try {
    const setup = async () => ({ model: { model: modelOf(await readDatabase(store)), interrupted: [] }, real: system });
    await fc.asyncModelRun(setup, run);
  } finally {
    await store.close();
  }
}
