import { type Call, InterruptedError } from '../command.ts';
import { openPlaces } from '../places/openPlaces.ts';
import { examine, findDefaultOrganisation } from './examine.ts';
import { makePlan, readPlan } from './makePlan.ts';
import { makeResult } from './makeResult.ts';
import { moveExport } from './moveExport.ts';
import type { MigrationPlan } from './plan.ts';
import { prove } from './prove.ts';
import type { MigrationResult } from './result.ts';
import type { MigrationRun, Side } from './run.ts';
import { type MigrationSettings, withSecretFiles } from './settings.ts';
import { hasExport, stageExport } from './stageExport.ts';

/** Both sides of a migration. */
export interface Sides {
  readonly source: Side;
  readonly target: Side;
}

/** Opens both places of a migration, and asks them about themselves and their tokens. */
export async function openSides(call: Call, settings: MigrationSettings): Promise<Sides> {
  const [from, to] = await openPlaces(withSecretFiles(call, settings), settings.from, settings.to);
  try {
    return {
      source: await examine('from', settings.from, from, call.signal),
      target: await examine('to', settings.to, to, call.signal),
    };
  } catch (error) {
    throw call.signal.aborted ? new InterruptedError('interrupted: nothing is changed; repeat the command') : error;
  }
}

/** Exports the source and makes the plan, unless both are done. */
export async function plan(run: MigrationRun, { source, target }: Sides): Promise<MigrationPlan> {
  const { plannedAt, moved, settings } = run.state;
  const isPlanned = plannedAt !== undefined && (await hasExport(run));
  if (isPlanned || moved !== undefined) return readPlan(run.directory);
  // A plan of another export is void, and so is the consent to it.
  await run.advance('planning', { plannedAt: undefined, consentedAt: undefined });
  await stageExport(run, source, await findDefaultOrganisation(source, settings, run.signal));
  const made = await makePlan(run, source, target);
  await run.advance('planned', { plannedAt: new Date().toISOString() });
  return made;
}

/** Does what is planned, as far as it is not done. */
export async function work(run: MigrationRun, planned: MigrationPlan, sides: Sides): Promise<MigrationResult> {
  if (run.state.moved === undefined) await moveExport(run, sides.target);
  const proved = await prove(run, planned, sides);
  const result = await makeResult(run, planned, sides.target, proved);
  const callers = { ...run.state.callers, to: proved.targetCaller };
  await run.advance('finished', { finishedAt: result.finishedAt, callers });
  return result;
}
