import { type DocumentStore, documentPath } from '../../../shared/store/store.ts';
import type { DecidedPlan } from '../outcome.ts';

/** Whether a record failed only because another one holds its name. */
export function isNameTaken({ plan, outcome }: DecidedPlan): boolean {
  return outcome.kind === 'failed' && plan.claims.some(({ taken }) => taken === outcome.issue);
}

/** What is in the way of a record: a waiting one that holds its name, or a record that does not wait for another name. */
type Obstacle = DecidedPlan | 'settled';

/**
 * Returns the waiting records that can have their names, each after the one that holds its name. Those that wait for each
 * other in a circle form a group, which must be written in one commit. Records are left out if a settled one holds their
 * name, and so are those that wait for them.
 */
export async function orderByHolders(store: DocumentStore, waiting: readonly DecidedPlan[]): Promise<DecidedPlan[][]> {
  const obstacles = await findObstacles(store, waiting);
  const movable = new Map<DecidedPlan, boolean>();
  const groups: DecidedPlan[][] = [];
  for (const first of waiting) {
    const chain = new Set<DecidedPlan>();
    let next: Obstacle | undefined = first;
    while (next !== undefined && next !== 'settled' && !movable.has(next) && !chain.has(next)) {
      chain.add(next);
      next = obstacles.get(next);
    }
    const isMovable = next === undefined || (next !== 'settled' && (chain.has(next) || movable.get(next) === true));
    for (const one of chain) movable.set(one, isMovable);
    if (isMovable) groups.push(...splitChain([...chain], next));
  }
  return groups;
}

/** Splits a chain, in which each record waits for the following one, into groups; the last comes first. */
function splitChain(chain: readonly DecidedPlan[], next: Obstacle | undefined): DecidedPlan[][] {
  const circle = next === undefined || next === 'settled' ? -1 : chain.indexOf(next);
  const start = circle < 0 ? chain.length : circle;
  const singles = chain.slice(0, start).map((one) => [one]);
  return circle < 0 ? singles.reverse() : [chain.slice(circle), ...singles.reverse()];
}

const READ_BATCH = 500;

/** Finds what is in each record's way; records without an obstacle are not contained. */
async function findObstacles(
  store: DocumentStore,
  waiting: readonly DecidedPlan[],
): Promise<Map<DecidedPlan, Obstacle>> {
  const byPath = new Map(waiting.map((one) => [documentPath(one.plan.key), one]));
  const obstacles = new Map<DecidedPlan, Obstacle>();
  for (let start = 0; start < waiting.length; start += READ_BATCH) {
    const batch = waiting.slice(start, start + READ_BATCH);
    const claims = batch.flatMap((one) => one.plan.claims.map(({ key }) => ({ one, key })));
    const stored = await store.getMany(
      claims.map(({ key }) => key),
      ['ownerId'],
    );
    for (const [index, { one }] of claims.entries()) {
      const holder = stored[index]?.ownerId;
      if (holder === undefined || holder === documentPath(one.plan.key)) continue;
      const obstacle = byPath.get(holder) ?? 'settled';
      if (obstacle === 'settled' || !obstacles.has(one)) obstacles.set(one, obstacle);
    }
  }
  return obstacles;
}
