import type { Call, Output, RunAlone } from '../command.ts';
import { askConsent, canAsk } from '../consent.ts';
import { cleanUp } from '../migrate/cleanUp.ts';
import type { MigrationPlan } from '../migrate/documents.ts';
import { plan, work } from '../migrate/migration.ts';
import { readResult, requireReportable, writeReport } from '../migrate/result.ts';
import { type MigrationRun, workAlone, writeState } from '../migrate/run.ts';
import { createRunDirectory, findRunDirectory, removeExport, resumeCommand } from '../migrate/runDirectory.ts';
import { readSettings, replaceSecretFiles } from '../migrate/settings.ts';
import { openSides, type Sides, withValidTokens } from '../migrate/sides.ts';
import { describeStatus, planText, resultText } from '../migrate/texts.ts';

/** Runs `identity migrate`. */
export const migrate: RunAlone = (call) => begin(call, migrateBetween);

/** Runs `identity migrate plan`. */
export const migratePlan: RunAlone = (call) =>
  begin(call, async (_, run, sides) => {
    const planned = await plan(run, sides);
    await removeExport(run.directory);
    return planOutput(planned, run);
  });

/** Runs `identity migrate resume`. */
export const migrateResume: RunAlone = async (call) => {
  const directory = await findRunDirectory(call.options['run-dir']);
  return await workAlone(call, directory, 'resumed', async (run) => {
    await run.advance('resumed', { settings: replaceSecretFiles(run.state.settings, call) });
    const result = run.state.finishedAt === undefined ? undefined : await readResult(directory);
    if (result !== undefined) return resultOutput(run, result);
    return await migrateBetween(call, run);
  });
};

/** Runs `identity migrate status`. */
export const migrateStatus: RunAlone = async ({ options }) =>
  describeStatus(await findRunDirectory(options['run-dir']));

/** Runs `identity migrate cleanup`. */
export const migrateCleanup: RunAlone = async (call) => cleanUp(call, await findRunDirectory(call.options['run-dir']));

type Steps = (call: Call, run: MigrationRun, sides: Sides) => Promise<Output>;

/** Begins a migration. What can be wrong with a call is found out before anything is left on the disk. */
async function begin(call: Call, steps: Steps): Promise<Output> {
  const settings = readSettings(call);
  await requireReportable(settings);
  const sides = await openSides(call, settings);
  const directory = await createRunDirectory(call.options['run-dir'], call.now);
  await writeState(directory, { version: 1, startedAt: call.now.toISOString(), settings });
  return await workAlone(call, directory, 'started', (run) => steps(call, run, sides));
}

/**
 * Plans, asks, moves and proves, as far as it is not done.
 * @param opened the sides, if they are open
 */
function migrateBetween(call: Call, run: MigrationRun, opened?: Sides): Promise<Output> {
  let sides = opened;
  return withValidTokens(call, run, async () => {
    const open = sides ?? (await openSides(call, run.state.settings));
    // Another attempt has another token.
    sides = undefined;
    return await doSteps(call, run, open);
  });
}

async function doSteps(call: Call, run: MigrationRun, sides: Sides): Promise<Output> {
  const planned = await plan(run, sides);
  if (run.state.consentedAt === undefined) {
    const agrees = call.flags.has('yes');
    if (agrees || canAsk()) show(call, planned);
    if (!agrees && !(await askConsent('Migrate?', call))) return await consentMissing(planned, run);
    await run.advance('consented', { consentedAt: new Date().toISOString() });
  }
  return resultOutput(run, await work(run, planned, sides));
}

/** Shows a plan before it is carried out. */
function show({ flags }: Call, planned: MigrationPlan): void {
  if (flags.has('json')) process.stdout.write(`${JSON.stringify({ event: 'plan', ...planned })}\n`);
  else process.stderr.write(`${planText(planned)}\n`);
}

async function consentMissing(planned: MigrationPlan, run: MigrationRun): Promise<Output> {
  await removeExport(run.directory);
  return { ...planOutput(planned, run), ending: () => 'consentMissing' };
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
    ending: () => result.outcome,
  };
}
