import type { Output, Surroundings } from '../command.ts';
import { askConsent, canAsk } from '../consent.ts';
import type { MigrationCall, PlanningCall } from './callOptions.ts';
import type { MigrationPlan } from './documents.ts';
import { plan, work } from './migration.ts';
import { readResult, requireReportable, writeReport } from './result.ts';
import { type MigrationRun, workAlone, writeState } from './run.ts';
import { createRunDirectory, findRunDirectory, removeExport, resumeCommand } from './runDirectory.ts';
import { readSettings, replaceSecretFiles } from './settings.ts';
import { openSides, type Sides, withValidTokens } from './sides.ts';
import { planText, resultText } from './texts.ts';

/** A call that begins or continues a migration. */
type MigratingCall = Surroundings & { readonly options: { readonly json: boolean; readonly yes?: boolean } };

/** Runs `identity migrate`. */
export function migrate(call: PlanningCall): Promise<Output> {
  return begin(call, (run, sides) => migrateBetween(call, run, sides));
}

/** Runs `identity migrate plan`. */
export function planMigration(call: PlanningCall): Promise<Output> {
  return begin(call, async (run, sides) => {
    const planned = await plan(run, sides);
    await removeExport(run.directory);
    return planOutput(planned, run);
  });
}

/** Runs `identity migrate resume`. */
export async function resumeMigration(call: MigrationCall): Promise<Output> {
  const directory = await findRunDirectory(call.options['run-dir']);
  return await workAlone(call, directory, 'resumed', async (run) => {
    await run.advance('resumed', { settings: replaceSecretFiles(run.state.settings, call.options) });
    const result = run.state.finishedAt === undefined ? undefined : await readResult(directory);
    if (result !== undefined) return resultOutput(run, result);
    return await migrateBetween(call, run);
  });
}

type Steps = (run: MigrationRun, sides: Sides) => Promise<Output>;

/** Begins a migration. What can be wrong with a call is found out before anything is left on the disk. */
async function begin(call: PlanningCall, steps: Steps): Promise<Output> {
  const settings = readSettings(call);
  await requireReportable(settings);
  const sides = await openSides(call, settings);
  const directory = await createRunDirectory(call.options['run-dir'], call.now);
  await writeState(directory, { version: 1, startedAt: call.now.toISOString(), settings });
  return await workAlone(call, directory, 'started', (run) => steps(run, sides));
}

/**
 * Plans, asks, moves and proves, as far as it is not done.
 * @param opened the sides, if they are open
 */
function migrateBetween(call: MigratingCall, run: MigrationRun, opened?: Sides): Promise<Output> {
  let sides = opened;
  return withValidTokens(call, run, async () => {
    const open = sides ?? (await openSides(call, run.state.settings));
    // Another attempt has another token.
    sides = undefined;
    return await doSteps(call, run, open);
  });
}

async function doSteps(call: MigratingCall, run: MigrationRun, sides: Sides): Promise<Output> {
  const planned = await plan(run, sides);
  if (run.state.consentedAt === undefined) {
    const agrees = call.options.yes === true;
    if (agrees || canAsk(call)) show(call, planned);
    if (!agrees && !(await askConsent('Migrate?', call))) return await consentMissing(planned, run);
    await run.advance('consented', { consentedAt: new Date().toISOString() });
  }
  return resultOutput(run, await work(run, planned, sides));
}

/** Shows a plan before it is carried out. */
function show({ options, stdout, stderr }: MigratingCall, planned: MigrationPlan): void {
  if (options.json) stdout.write(`${JSON.stringify({ event: 'plan', ...planned })}\n`);
  else stderr.write(`${planText(planned)}\n`);
}

async function consentMissing(planned: MigrationPlan, run: MigrationRun): Promise<Output> {
  await removeExport(run.directory);
  return { ...planOutput(planned, run), exitStatus: () => 'consentMissing' };
}

function planOutput(planned: MigrationPlan, { directory }: MigrationRun): Output {
  const next = `${resumeCommand(directory)} --yes`;
  return {
    json: { event: 'result', changed: false, next, ...planned },
    text: `${planText(planned)}\nnothing is changed: migrate with ${next}`,
  };
}

async function resultOutput(run: MigrationRun, result: Awaited<ReturnType<typeof work>>): Promise<Output> {
  await removeExport(run.directory);
  await writeReport(run.state.settings, result);
  return {
    json: { event: 'result', directory: run.directory, ...result },
    text: resultText(result, run.directory),
    exitStatus: () => result.outcome,
  };
}
