// The steps of a migration: plan, confirmation, move and proof.

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { hasCode } from '../../shared/errors/identityError.ts';
import { sourceMissing, tokenRejected } from '../../shared/errors/placeErrors.ts';
import { objectForbidden } from '../../shared/errors/storageErrors.ts';
import { isUsageError, type Output, type Surroundings } from '../command.ts';
import type { FilePlace, StoredFile } from '../exports/placeInterfaces.ts';
import { trackStore } from '../exports/trackTransfer.ts';
import { withoutEmpty } from '../notices.ts';
import { firstLines } from '../numberTexts.ts';
import { askConfirmation, askText, canAsk } from '../questions.ts';
import { commandLine, type Line, layOut, layoutOf, printable, printableJson, section } from '../terminal.ts';
import { chooseSecrets, requireSecrets } from './chooseSecrets.ts';
import { currentOptions, importExport, stageExport } from './exportStage.ts';
import { listManualSteps, listOrganisationDeletions, manualSection } from './manualSteps.ts';
import type { MigrationPlan, MigrationResult } from './migrationDocuments.ts';
import type { MigrationCall, PlanningCall } from './migrationOptions.ts';
import { cleanUpAfterError, describeRun, type MigrationRun, workAlone, writeMigrationState } from './migrationRun.ts';
import { isEmptyPlan, planText, resultText } from './migrationText.ts';
import { type OpenSide, type OpenSides, openSides } from './openSides.ts';
import { keepShownPlan, makePlan, readPlan, readShownPlan } from './plan.ts';
import { prove } from './proof.ts';
import { makeResult, readResult, requireReportable, writeReport } from './result.ts';
import { chooseRun, createRunDirectory, migrateCommand, removeExport } from './runDirectory.ts';
import { readSettings, replaceSecretFiles } from './settings.ts';
import { sourceChanges } from './sourceChanges.ts';

/** A call that starts or continues a migration. */
type MigratingCall = Surroundings & { readonly options: { readonly json: boolean; readonly yes?: boolean } };

/** Runs `identity migrate`. */
export function startMigration(call: PlanningCall): Promise<Output> {
  return beginMigration(call, (run, sides) => migrateBetween(call, run, sides));
}

/** Runs `identity migrate plan`. */
export function planMigration(call: PlanningCall): Promise<Output> {
  return beginMigration(call, async (run, sides) => planOutput(await plan(run, sides), run));
}

/** Runs `identity migrate resume`. */
export async function resumeMigration(call: MigrationCall): Promise<Output> {
  const directory = await chooseRun(call.options['run-dir']);
  return await workAlone(call, directory, 'resumed', async (run) => {
    const result = run.state.finishedAt === undefined ? undefined : await readResult(directory);
    const migration = `the migration ${describeRun(run.state)}`;
    const line = result === undefined ? `resuming ${migration}` : `${migration}, finished at ${result.finishedAt}`;
    if (!call.options.json) call.stderr.write(`${line}: ${directory}\n`);
    const settings = replaceSecretFiles(run.state.settings, call.options);
    await run.change({ settings });
    return result === undefined ? await migrateBetween(call, run) : await resultOutput(run, result);
  });
}

/** Starts a migration. Validates the call before it writes files. */
async function beginMigration(
  call: PlanningCall,
  steps: (run: MigrationRun, sides: OpenSides) => Promise<Output>,
): Promise<Output> {
  requireSecrets(call);
  const given = readSettings(call);
  await requireReportable(given);
  const sides = await openSides(call, given);
  const { place } = sides.target;
  if (place.takes === 'files') await place.requireFree?.(call.signal);
  const settings = await chooseSecrets(call, given, sides.source);
  const directory = await createRunDirectory(call.options['run-dir'], call.now);
  const startedAt = call.now.toISOString();
  await writeMigrationState(directory, { version: 1, startedAt, settings, callers: {}, phases: [], resumedAt: [] });
  try {
    return await workAlone(call, directory, 'started', (run) => steps(run, sides));
  } catch (error) {
    // The export has revealed a wrong call or name. Nothing has moved.
    if (isUsageError(error) || sourceMissing.is(error))
      await cleanUpAfterError(rm(directory, { recursive: true }), call);
    throw error;
  }
}

/**
 * Does the remaining steps: plan, confirmation, move and proof. Asks for another token if a place rejects one, and
 * continues.
 * @param opened the sides if they are already open
 */
async function migrateBetween(call: MigratingCall, run: MigrationRun, opened?: OpenSides): Promise<Output> {
  for (let sides = opened; ; sides = undefined) {
    try {
      return await doSteps(call, run, sides ?? (await openSides(call, run.state.settings)));
    } catch (error) {
      if (!tokenRejected.is(error) || error.option === undefined || !canAsk(call)) throw error;
      const file = await askText(`${printable(error.message)}\nThe file of ${error.option}:`, call);
      const given = { [error.option.slice('--'.length)]: file };
      await run.change({ settings: replaceSecretFiles(run.state.settings, given) });
    }
  }
}

async function doSteps(call: MigratingCall, run: MigrationRun, sides: OpenSides): Promise<Output> {
  const planned = await plan(run, sides);
  if (isEmptyPlan(planned)) return planOutput(planned, run);
  if (run.state.confirmedAt === undefined) {
    const shown = await readShownPlan(run.directory);
    const changes = shown === undefined ? [] : sourceChanges(shown, planned);
    if (!(await confirm(call, run, planned, changes)))
      return { ...(await planOutput(planned, run, changes)), exitStatus: () => 'unconfirmed' };
    await run.advance({ confirmedAt: new Date().toISOString() });
  }
  if (run.state.moved === undefined) await moveExport(run, sides.target);
  const proved = await prove(run, planned, sides);
  const result = await makeResult(run, planned, sides.target, proved);
  const callers = { ...run.state.callers, to: proved.targetCaller };
  await run.advance({ finishedAt: result.finishedAt, callers });
  return resultOutput(run, result);
}

/**
 * Shows a plan and asks for confirmation.
 * @param changes the changes of the source since the plan was shown; `--yes` does not confirm them
 */
async function confirm(
  call: MigratingCall,
  run: MigrationRun,
  planned: MigrationPlan,
  changes: readonly string[],
): Promise<boolean> {
  const asked = changes.length === 0 ? call : { ...call, options: { ...call.options, yes: false } };
  if (asked.options.yes || canAsk(asked)) await show(call, run, planned);
  return await askConfirmation('Migrate?', asked, changeSection(changes));
}

function changeSection(changes: readonly string[]): Line[] {
  return section('The source has changed since the plan was shown', firstLines(changes, 'changed organisation'));
}

/** Exports the source and makes the plan, unless both are done. */
async function plan(run: MigrationRun, sides: OpenSides): Promise<MigrationPlan> {
  const { plannedAt, moved, callers } = run.state;
  const [from, to] = [sides.source, sides.target].map(({ facts }) => facts?.caller?.userId);
  await run.change({ callers: { from: from ?? callers.from, to: to ?? callers.to } });
  const isPlanned = plannedAt !== undefined && run.hasExport;
  if (isPlanned || moved !== undefined) return readPlan(run.directory);
  // The plan of another export, and its confirmation, are invalid.
  await run.advance({ plannedAt: undefined, confirmedAt: undefined });
  await stageExport(run, sides.source);
  const made = await makePlan(run, sides);
  await run.advance({ plannedAt: new Date().toISOString() });
  return made;
}

/** Imports the export into the target, or stores it there. Both are idempotent. */
async function moveExport(run: MigrationRun, { place }: OpenSide): Promise<void> {
  if (place.takes === 'files') {
    await run.advance({ moved: { stored: await storeInTarget(run, place) } });
    return;
  }
  const response = await importExport(run, place);
  // ZITADEL lists ids anyway.
  await run.advance({ moved: { response: { ...response, success: {} } } });
}

async function storeInTarget(
  run: MigrationRun,
  target: FilePlace,
): Promise<Pick<StoredFile, 'place'> & Partial<StoredFile>> {
  const { output, signal, export: staged } = run;
  await using content = await run.openExport();
  try {
    return await trackStore(target, { name: staged.name, content }, 'storing', output, signal);
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS')) throw error;
    // An interrupted attempt may have completed the file without recording it.
    const stored = await digest(run, target).catch((failure: unknown) => {
      throw objectForbidden.is(failure) ? error : failure;
    });
    if ((await digest(run, staged)) !== stored) throw error;
    return { place: target.name };
  }
}

async function digest(run: MigrationRun, place: FilePlace): Promise<string> {
  const sum = createHash('sha256');
  await using content = await place.readExport(currentOptions(run), run.signal);
  for await (const chunk of content.open(run.signal)) sum.update(chunk);
  return sum.digest('hex');
}

async function show(
  { options, stdout, stderr, environment }: MigratingCall,
  { directory }: MigrationRun,
  planned: MigrationPlan,
): Promise<void> {
  if (options.json) stdout.write(`${printableJson({ event: 'plan', ...planned })}\n`);
  else stderr.write(`${layOut(planText(planned, directory), layoutOf(stderr, environment))}\n\n`);
  await keepShownPlan(directory, planned);
}

/** @param changes the changes of the source since the plan was shown */
async function planOutput(planned: MigrationPlan, run: MigrationRun, changes: readonly string[] = []): Promise<Output> {
  const { directory } = run;
  await removeExport(directory);
  await keepShownPlan(directory, planned);
  const result = { event: 'result', changed: false };
  if (isEmptyPlan(planned)) {
    // Cannot be resumed.
    await run.advance({ finishedAt: new Date().toISOString() });
    return { json: { ...result, ...planned }, text: planText(planned, directory) };
  }
  const next = `${migrateCommand('resume', directory)} --yes`;
  const offer = section('Nothing is changed: migrate with', [commandLine(next)]);
  return {
    json: { ...result, next, ...withoutEmpty({ sourceChanges: changes }), ...planned },
    text: [...planText(planned, directory), ...changeSection(changes), ...offer],
  };
}

async function resultOutput({ directory, state }: MigrationRun, result: MigrationResult): Promise<Output> {
  await removeExport(directory);
  await writeReport(state.settings, result);
  const byHand = [...listOrganisationDeletions(state, result), ...(await listManualSteps(state, result))];
  return {
    json: { event: 'result', directory, byHand, ...result },
    text: [...resultText(result, directory), ...manualSection(byHand)],
    exitStatus: () => result.outcome,
  };
}
