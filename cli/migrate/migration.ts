import { stat } from 'node:fs/promises';
import { total } from '../../shared/collections/counts.ts';
import { commandInterrupted } from '../../shared/errors/commandErrors.ts';
import { firstIds, organisationsExist } from '../../shared/errors/errors.ts';
import {
  migrationStopped,
  placeFailed,
  placeLost,
  placeUnavailable,
  planChanged,
  sourceChanged,
  targetChanged,
  tokenRejected,
} from '../../shared/errors/placeErrors.ts';
import { confirmDeletions, requirePermitted } from '../exports/mirrorDeletions.ts';
import { trackStore } from '../exports/trackTransfer.ts';
import { isConnectionLost } from '../http/reconnection.ts';
import { errorParams, isDeadline } from '../http/serverErrors.ts';
import { type Block, blockJson, blockLines, listBlock } from '../report/blocks.ts';
import { isUsageError, type Output, usageError } from '../terminal/command.ts';
import { describeError } from '../terminal/describeError.ts';
import { counted, named } from '../terminal/numberTexts.ts';
import { askConfirmation, canAsk } from '../terminal/questions.ts';
import { commandLine, layOut, layoutOf, printableJson, section } from '../terminal/terminal.ts';
import { chooseSecrets, requireSecrets } from './chooseSecrets.ts';
import { importExport, stageExport } from './exportStage.ts';
import { isEmptyPlan, planBlocks, resultBlocks } from './migrationBlocks.ts';
import type { MigrationCall } from './migrationOptions.ts';
import { MigrationRun } from './migrationRun.ts';
import type { MigrationPlan } from './migrationTypes.ts';
import { type OpenSide, type OpenSides, openSides } from './openSides.ts';
import { type MadePlan, makePlan, readTarget } from './plan.ts';
import { changedParts, planDigest } from './planDigest.ts';
import { requireReportable, writeReport } from './reportFile.ts';
import { makeResult } from './result.ts';
import { callCommand, isFilePlace, readSettings } from './settings.ts';

/** Runs `identity migrate`. Checks the options before it reads the source. */
export async function migrate(call: MigrationCall): Promise<Output> {
  const { expect, 'dry-run': isDryRun, report, json } = call.options;
  if (isDryRun && expect !== undefined)
    throw usageError('--dry-run prints the digest that --expect needs: specify only one of these options');
  const requestedSettings = readSettings(call);
  requireSecrets(call);
  await requireReportable(report);
  const sides = await openSides(call, requestedSettings);
  const { place } = sides.target;
  if (place.takes === 'files') await place.requireFree?.(call.signal);
  const settings = await chooseSecrets(call, requestedSettings, sides.source);
  await using run = new MigrationRun(call, settings, sides);
  // The command prints this text immediately after a signal. Otherwise, the user might send a second signal, which
  // would end the process.
  const interrupting = () => call.stderr.write('\ninterrupting the migration\n');
  if (!json) call.signal.addEventListener('abort', interrupting);
  const version = await fileVersion(run);
  try {
    return await doSteps(call, run, sides, version);
  } catch (error) {
    // If a file changes while the command reads it, the file can appear damaged. The user then gets the error that the
    // file has changed.
    const isChanged = version !== (await fileVersion(run).catch(() => version));
    const isPlanning = run.step === 'planning' && !call.signal.aborted;
    throw stopError(call, run, isPlanning && isChanged ? changedSource(run) : error);
  } finally {
    call.signal.removeEventListener('abort', interrupting);
  }
}

/** @param version the version that the source file had before the command read the file */
async function doSteps(
  call: MigrationCall,
  run: MigrationRun,
  sides: OpenSides,
  version: string | undefined,
): Promise<Output> {
  const { expect, 'dry-run': isDryRun, yes, json } = call.options;
  const { source, target } = sides;
  const between = `from ${source.place.name} to ${target.place.name}`;
  await stageExport(run, sides);
  await requireNewOrganisations(call, run, target);
  const made = await makePlan(run, sides);
  if (expect !== undefined) await requireUnchanged(call, run, made, expect);
  const isEmpty = isEmptyPlan(made.plan);
  // The user can pass the printed digest to a later call with --expect. A call with --yes needs no digest, because it
  // migrates at once.
  const digest = isEmpty || (yes && !isDryRun) ? undefined : (expect ?? (await planDigest(made.shown)));
  const planned = [...planBlocks(made.plan), ...digestBlocks(digest)];
  if (isDryRun || isEmpty) {
    const reported = { title: `Plan of a migration ${between}`, blocks: planned, done: 'nothing was changed' };
    return { ...planOutput(call, run, planned, digest), ...reporting(call, reported) };
  }
  if (yes || canAsk(call)) show(call, 'plan', planned);
  const maxDeleted = await confirm(call, made.plan);
  if (maxDeleted === undefined) return { ...planOutput(call, run, planned, digest), exitStatus: () => 'unconfirmed' };
  if (run.settings.mirror === true) run.settings = { ...run.settings, maxDeleted };
  if (version !== (await fileVersion(run))) throw changedSource(run);
  if (yes !== true) await requireSameTarget(call, run, made, target);
  await moveExport(run, target);
  const result = await makeResult(run, made, sides);
  const blocks = resultBlocks(result);
  const done =
    'the migration and its proof are complete; keep the printed result, because a second run prints a different result';
  return {
    ...(json
      ? { json: { event: 'result', ...blockJson(blocks) }, text: [] }
      : { json: undefined, text: blockLines(blocks) }),
    exitStatus: () => result.outcome,
    ...reporting(call, { title: `Migration ${between}`, blocks, done }),
  };
}

/**
 * Asks the user to confirm the migration. If the plan contains deletions, the user confirms by typing their number.
 * @returns the number of deletions that the user or the call permits. Undefined if the user does not confirm the
 * migration
 * @throws IdentityError MIRROR_DELETES_TOO_MUCH if `--max-deleted` is smaller than the number of deletions
 */
async function confirm(call: MigrationCall, { deleted = {}, target }: MigrationPlan): Promise<number | undefined> {
  const { yes, 'max-deleted': limit } = call.options;
  const planned = total(deleted);
  if (!yes && planned > 0) return await confirmDeletions({ deleted }, target.place, call);
  requirePermitted(planned, call);
  if (!(await askConfirmation('Migrate?', call))) return undefined;
  return limit ?? planned;
}

/** @param digest undefined if there is nothing to migrate, or if the call has already confirmed the migration */
function digestBlocks(digest: string | undefined): readonly Block[] {
  if (digest === undefined) return [];
  return [{ title: 'Digest of source, target and plan, for --expect', lines: [digest], data: { digest } }];
}

/** Writes the report only after the output was printed. */
function reporting({ options: { report }, stderr }: MigrationCall, reported: Parameters<typeof writeReport>[1]) {
  return report === undefined ? {} : { afterwards: () => writeReport(report, reported, stderr) };
}

/**
 * Returns a text that differs after every change of the source file. Returns undefined if the source is not read
 * directly from a file.
 */
async function fileVersion({ sourceFile }: MigrationRun): Promise<string | undefined> {
  if (sourceFile === undefined) return undefined;
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(sourceFile, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

function changedSource({ settings: { from, to } }: MigrationRun): Error {
  return sourceChanged({ place: from, target: to });
}

/**
 * Requires that source, target and plan are as in an earlier dry run.
 * @param expected the digest that the dry run has printed
 * @throws IdentityError ABORTED if the source, the target or the plan has changed
 */
async function requireUnchanged(
  call: MigrationCall,
  { settings, selectsSecrets }: MigrationRun,
  { shown }: MadePlan,
  expected: string,
): Promise<void> {
  const changed = await changedParts(expected, shown, selectsSecrets ? 'call' : 'file');
  if (changed.length > 0) throw changedPlan(call, settings, changed);
}

function changedPlan(call: MigrationCall, settings: MigrationRun['settings'], changed: readonly string[]): Error {
  const next = callCommand(call, settings, { expect: false, yes: false, 'dry-run': true });
  return planChanged({ changed: changed.map((part) => `the ${part}`).join(' and '), next });
}

/**
 * Requires that the target has not changed since the plan was made, because the user's answer can take hours. Checks
 * this only if the call has --expect, or if the import overwrites or deletes records.
 * @throws IdentityError ABORTED if the target's records have changed
 */
async function requireSameTarget(
  call: MigrationCall,
  run: MigrationRun,
  { shown }: MadePlan,
  target: OpenSide,
): Promise<void> {
  const { expect } = call.options;
  const { onConflict, mirror } = run.settings;
  if (expect === undefined && onConflict !== 'overwrite' && mirror !== true) return;
  if ((await readTarget(run, target)) === shown.target) return;
  throw expect === undefined
    ? targetChanged({ place: target.place.name })
    : changedPlan(call, run.settings, ['target']);
}

/**
 * If `--on-conflict` is `fail`, requires that the target has none of the organisations. The command calls this function
 * before it reads the target's records.
 * @throws IdentityError if the target already has one of the organisations
 */
async function requireNewOrganisations(call: MigrationCall, run: MigrationRun, { place }: OpenSide): Promise<void> {
  if (run.settings.onConflict !== 'fail' || place.takes === 'files') return;
  const listed = await run.reconnecting(() => place.organisations(run.signal));
  const targetIds = new Set(listed.filter(({ isDeleted }) => !isDeleted).map(({ orgId }) => orgId));
  const existing = run.exported.listed
    .filter(({ orgId }) => targetIds.has(orgId))
    .map(({ orgId, name }) => ({ orgId, name }));
  if (existing.length === 0) return;
  const lines = existing.map(({ orgId, name }) => named(orgId, name));
  show(call, 'existing', [listBlock(`Existing organisations in ${place.name}`, lines, 'organisation', { existing })]);
  const ids = firstIds(existing.map(({ orgId }) => orgId)).join(', ');
  throw existingOrganisations(call, run, `${counted(existing.length, 'organisation')} of the export: ${ids}`);
}

/** @param existing a text with the ids of the existing organisations, and with their number if known */
function existingOrganisations(call: MigrationCall, { settings }: MigrationRun, existing: string): Error {
  const { from, to } = settings;
  const next = callCommand(call, settings, { 'on-conflict': false, expect: false });
  // If the source is a file, --exclude-org is no remedy, because an import of a file always includes all its
  // organisations.
  const others = isFilePlace(from)
    ? 'export the source again without these organisations'
    : 'exclude these organisations with --exclude-org';
  return migrationStopped({
    problem: `${to} has ${existing}`,
    progress: `nothing is changed in ${to}`,
    next: `${others}, or continue an interrupted migration with ${next}`,
  });
}

async function moveExport(run: MigrationRun, { place }: OpenSide): Promise<void> {
  if (place.takes === 'files') {
    await using content = await run.openExport();
    run.stored = await trackStore(place, { name: run.export.name, content }, 'storing', run);
  } else {
    run.response = await importExport(run, place);
  }
  run.step = 'imported';
}

function show(
  { options, stdout, stderr, environment }: MigrationCall,
  event: 'plan' | 'existing',
  blocks: readonly Block[],
): void {
  if (options.json) stdout.write(`${printableJson({ event, ...blockJson(blocks) })}\n`);
  else stderr.write(`${layOut(blockLines(blocks), layoutOf(stderr, environment))}\n\n`);
}

/**
 * Returns the output of a dry run, or of a migration that the user did not confirm.
 * @param digest undefined if there is nothing to migrate
 */
function planOutput(
  call: MigrationCall,
  { settings }: MigrationRun,
  planned: readonly Block[],
  digest?: string,
): Output {
  const result = { event: 'result', changed: false };
  if (digest === undefined) return { json: { ...result, ...blockJson(planned) }, text: blockLines(planned) };
  const next = callCommand(call, settings, { 'dry-run': false, report: false, expect: digest, yes: true });
  const offer = section('Nothing is changed. To migrate, run', [commandLine(next)]);
  return { json: { ...result, next, ...blockJson(planned) }, text: [...blockLines(planned), ...offer] };
}

function stopError(call: MigrationCall, run: MigrationRun, error: unknown): unknown {
  if (isUsageError(error) || [planChanged, sourceChanged, targetChanged].some((kind) => kind.is(error))) return error;
  const isInterrupted = call.signal.aborted || commandInterrupted.is(error);
  // Another caller may have created these organisations after the command had found that the target lacked them.
  if (organisationsExist.is(error))
    return existingOrganisations(call, run, `organisations of the export: ${errorParams(error).orgIds ?? ''}`);
  const hasExpired = isDeadline(error);
  const next = nextStep(call, run, hasExpired);
  if (isInterrupted) return commandInterrupted({ interruption: `interrupted: ${run.progressText}; ${next}` });
  const isRepeatable = placeFailed.is(error) || placeLost.is(error) || placeUnavailable.is(error);
  const isTransient = isRepeatable || hasExpired || isConnectionLost(error) || tokenRejected.is(error);
  if (run.step === 'planning' && !isTransient) return error;
  const problem = isRepeatable ? error.text : describeError(error).message;
  return migrationStopped({ problem, progress: run.progressText, next });
}

/** @param hasExpired true if a time limit ended the migration. The next call must then not use the same limit */
function nextStep(call: MigrationCall, run: MigrationRun, hasExpired: boolean): string {
  const { settings, step } = run;
  const { to } = settings;
  const { timeout, expect } = call.options;
  const isOwnLimit = hasExpired && timeout !== undefined;
  const asGiven = {
    ...(isOwnLimit ? { timeout: false } : {}),
    ...(run.selectsSecrets || run.isStaged ? {} : { with: false }),
  };
  const newDryRun = { expect: false, yes: false, 'dry-run': true, ...asGiven };
  const again = isOwnLimit
    ? `--timeout ${timeout.text} is too short: specify a longer time, or omit --timeout`
    : 'run the same command again';
  if (expect !== undefined)
    return `${isOwnLimit ? `${again}; ` : ''}make a new dry run: ${callCommand(call, settings, newDryRun)}`;
  // A repeated migration never replaces a file. If the target file has already been stored, the user must delete it
  // first.
  const first = step === 'imported' && isFilePlace(to) ? `delete ${to}, then ` : '';
  return `${first}${again}: ${callCommand(call, settings, asGiven)}`;
}
