import fc from 'fast-check';
import { it } from 'vitest';
import { randomOf } from '../faults/support/random.ts';
import { survived } from '../faults/support/survived.ts';
import { repetitions } from '../support/repetitions.ts';
import { readDatabase } from '../support/stores/database.ts';
import { describeStores, type StoreKind } from '../support/stores/stores.ts';
import { modelOf } from './contents.ts';
import type { Step } from './step.ts';
import { anySteps, firstSteps, lastStep } from './steps.ts';
import { systemOn } from './system.ts';

/** `npm test` makes a few steps, `npm run test:all` more. */
const STEPS = repetitions({ few: Number(process.env.MACHINE_STEPS ?? 60), many: 10_000 });
/** A step takes several times longer on the emulator. */
const stepsOn = { SQLite: STEPS, Firestore: repetitions({ few: Math.ceil(STEPS / 3), many: STEPS }) };
/** Enough for the library to try both usual and unusual values. */
const RUNS_AT_ONCE = 5;

describeStores('a random state machine', (kind) => {
  const all = stepsOn[kind.name];
  const commands = fc.commands([...anySteps], { maxCommands: Math.min(100, Math.ceil(all / 2)), size: 'max' });

  it(`has the same records in its database as the model, after each of ${all} steps`, async (context) => {
    const random = randomOf(`machine (${kind.name})`);
    let steps = 0;
    const property = fc.asyncProperty(commands, async (run) => {
      if (steps < all) await drive(kind, [...firstSteps, ...run, lastStep], () => steps++);
    });
    // Shrinking takes minutes. The failing step is printed with the database before it, which is small.
    const parameters = { numRuns: RUNS_AT_ONCE, endOnFailure: true };
    while (steps < all) await fc.assert(property, { seed: Math.floor(random() * 2 ** 31), ...parameters });
    survived(context, 'random steps', kind.name, steps);
  });
});

/** Drives an instance with an empty database. */
async function drive(kind: StoreKind, run: Iterable<Step>, onStep: () => void): Promise<void> {
  const system = await systemOn(await kind.newLocation(), onStep);
  const { store } = system;
  try {
    const setup = async () => ({
      model: { model: modelOf(await readDatabase(store)), interrupted: [], kept: undefined },
      real: system,
    });
    await fc.asyncModelRun(setup, run);
  } finally {
    await store.close();
  }
}
