import { createHash } from 'node:crypto';
import { IdentityError } from '../../shared/errors/identityError.ts';
import type { DatabasePlace, FilePlace, StoredFile } from '../places/place.ts';
import { RecordCounter, trackImport } from '../places/recordCounter.ts';
import { trackPhase } from '../progress.ts';
import type { MigrationPlan, MigrationResult } from './documents.ts';
import { currentSelection, stageExport } from './exportStage.ts';
import { makePlan, readPlan } from './plan.ts';
import { prove } from './proof.ts';
import { makeResult } from './result.ts';
import type { MigrationRun } from './run.ts';
import { targetOptions } from './settings.ts';
import { findDefaultOrganisation, type Side, type Sides } from './sides.ts';

/** Exports the source and makes the plan, unless both are done. */
export async function plan(run: MigrationRun, { source, target }: Sides): Promise<MigrationPlan> {
  const { plannedAt, moved, settings } = run.state;
  const isPlanned = plannedAt !== undefined && (await run.hasExport());
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

/** Imports the export into the target, or stores it there. Both can be repeated after an interruption. */
async function moveExport(run: MigrationRun, { place }: Side): Promise<void> {
  const moved =
    place.takes === 'imports'
      ? { response: await importExport(run, place) }
      : { stored: await storeExport(run, place) };
  await run.advance('moved', { moved });
}

async function importExport(run: MigrationRun, target: DatabasePlace) {
  const { output, signal, state, export: staged } = run;
  await using content = await staged.readExport(currentSelection(run).options, signal);
  const read = { name: staged.name, content };
  const response = await trackImport(target, read, targetOptions(state.settings, false), output, signal);
  // A ZITADEL lists ids nevertheless.
  return { ...response, success: {} };
}

async function storeExport(
  run: MigrationRun,
  target: FilePlace,
): Promise<Pick<StoredFile, 'place'> & Partial<StoredFile>> {
  const { output, signal, export: staged } = run;
  const { options } = currentSelection(run);
  await using content = await staged.readExport(options, signal);
  const counter = new RecordCounter(staged.name);
  const meter = { records: () => counter.records, fraction: () => content.fraction?.() };
  try {
    return await trackPhase(output, 'storing', meter, () => target.store(counter.count(content.open(signal)), signal));
  } catch (error) {
    if (!(error instanceof IdentityError) || error.code !== 'ALREADY_EXISTS') throw error;
    // An attempt may have been interrupted when the file was complete, before that was kept.
    const [own, found] = [await digest(run, staged), await digest(run, target)];
    if (own !== found) throw error;
    return { place: target.name };
  }
}

/** Computes the digest of a file's JSON. */
async function digest(run: MigrationRun, place: FilePlace): Promise<string> {
  const sum = createHash('sha256');
  await using content = await place.readExport(currentSelection(run).options, run.signal);
  for await (const chunk of content.open(run.signal)) sum.update(chunk);
  return sum.digest('hex');
}
