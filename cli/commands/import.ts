import { type Counts, total } from '../../shared/collections/counts.ts';
import { defined, withoutEmpty } from '../../shared/defined.ts';
import { reportMissing } from '../../shared/errors/commandErrors.ts';
import type { RecordWarning } from '../../shared/errors/warnings.ts';
import { transferOptions } from '../../shared/wire/transferOptions.ts';
import type { FailedFile } from '../exports/failedRecords.ts';
import type { ImportResponse } from '../exports/importResponse.ts';
import { confirmDeletions, deletionLines, deletionsOf, deletionsTitle } from '../exports/mirrorDeletions.ts';
import type {
  DatabasePlace,
  ExportFile,
  FilePlace,
  Place,
  PlaceExportOptions,
  PlaceImportOptions,
} from '../exports/placeInterfaces.ts';
import type { ExportedRequest } from '../exports/recordCounter.ts';
import {
  callContext,
  eventsOption,
  exportChoices,
  exportOptionsOf,
  importChoices,
  importOptionsOf,
  mirrorChoices,
  mirrorOptionsOf,
  movedSecrets,
  placeDetails,
  RUN_AND_OUTPUT,
  SELECTION,
  secretsMissing,
  secretsOfTwo,
  toOption,
} from '../places/placeOptions.ts';
import {
  defineCommand,
  flag,
  interruptible,
  type Output,
  optional,
  required,
  type Surroundings,
  usageError,
} from '../terminal/command.ts';
import { elsewhereLines, firstNotices, noticeSection } from '../terminal/notices.ts';
import { counted } from '../terminal/numberTexts.ts';
import { type CallContext, type PhaseState, type ProgressOutput, trackPhase } from '../terminal/progress.ts';
import { type Line, section, warnOn } from '../terminal/terminal.ts';

export const importCommand = defineCommand({
  name: 'import',
  summary: 'import organisations into an instance or a database',
  details: `${placeDetails} To resume, repeat the command.`,
  arguments: [required('PLACE', 'the source')],
  options: {
    ...toOption('the instance or the database'),
    ...exportChoices,
    ...movedSecrets,
    ...importChoices,
    ...mirrorChoices,
    yes: flag('with --mirror: skip the confirmation', SELECTION),
    ...transferOptions.dryRun.command,
    failed: optional('FILE', 'write the failed records to a new export file', RUN_AND_OUTPUT),
    ...secretsOfTwo('the source', 'the target'),
    ...eventsOption,
  },
  examples: [
    'import north.json.gz --to https://id.example.com --dry-run',
    'import north.json.gz --to sqlite:./north --on-conflict overwrite --mirror',
  ],
  run: async (call) => {
    const { openPlaces } = await import('../open/openPlaces.ts');
    const { requireEffects } = await import('../open/optionEffects.ts');
    const { parsePlace, requireOther } = await import('../places/parsePlace.ts');
    const { changedText } = await import('../exports/trackTransfer.ts');
    const {
      arguments: [from],
      options: callOptions,
      signal,
    } = call;
    const { kind } = parsePlace(from);
    if ((kind === 'instance' || kind === 'database') && callOptions.with === undefined) throw secretsMissing();
    const [source, target] = await openPlaces(call, callOptions, from, callOptions.to);
    if (target.takes !== 'imports')
      throw usageError(
        `the target ${target.name} is a file: specify an instance or a database, or write a file with \`identity export\``,
      );
    requireOther(source.name, target.name);
    await requireEffects(callOptions, signal, { place: source }, { place: target });
    const mirrored = mirrorOptionsOf(callOptions);
    if (callOptions.yes && !callOptions.mirror)
      throw usageError('--yes has no effect without --mirror: add --mirror, or omit --yes');
    const selection = exportOptionsOf(call);
    const takesAll = source.takes === 'files' && callOptions.with === undefined;
    const options = { ...importOptionsOf(call), ...mirrored, withKeys: takesAll || selection.withKeys };
    const failedFile = callOptions.failed === undefined ? undefined : await openNewFile(callOptions.failed, call);
    const asksFirst = mirrored.mirror === true && !callOptions.yes && !options.dryRun;
    const confirm = asksFirst ? (trial: ImportResponse) => confirmTrial(trial, target.name, call) : undefined;
    const importing = { source, target, selection, options, takesAll, failedFile, confirm };
    const phases = new Map<string, PhaseState>();
    const { output } = callContext(call);
    const finish: ProgressOutput['finish'] = (phase, hasSucceeded) => {
      output.finish(phase, hasSucceeded);
      phases.set(phase.phase, phase);
    };
    const interruption = () =>
      options.dryRun ? `nothing was written to ${target.name}` : changedText(target.name, phases);
    return interruptible(
      signal,
      () => `interrupted: ${interruption()}; repeat the command`,
      () => importInto(importing, { output: { ...output, finish }, signal }),
    );
  },
});

interface Importing {
  readonly source: Place;
  readonly target: DatabasePlace;
  readonly selection: PlaceExportOptions;
  readonly options: PlaceImportOptions;
  /** True if the source is a file and the call has no `--with`. The import then includes all secrets of the source. */
  readonly takesAll: boolean;
  /** Undefined unless the call has `--failed`. */
  readonly failedFile: FilePlace | undefined;
  /**
   * Asks the user to confirm the deletions that a dry run has predicted. Resolves to the number of confirmed deletions,
   * or to undefined if the user does not consent. If this function is undefined, the command does not ask.
   */
  readonly confirm: ((plan: ImportResponse) => Promise<number | undefined>) | undefined;
}

/** Asks the user to confirm the deletions of a dry run. If the dry run has errors, returns undefined without asking. */
async function confirmTrial(
  trial: ImportResponse,
  target: string,
  call: Parameters<typeof confirmDeletions>[2],
): Promise<number | undefined> {
  if (trial.errors !== undefined) return undefined;
  const deletions = deletionsOf(trial);
  return await confirmDeletions(deletions, target, call, section(deletionsTitle(true), deletionLines(deletions)));
}

/** Requires that the file does not exist yet, so that the command fails before the import starts. */
async function openNewFile(path: string, { stderr, signal }: Surroundings): Promise<FilePlace> {
  const { openFile } = await import('../places/filePlace.ts');
  const file = openFile(path, warnOn(stderr));
  await file.requireFree?.(signal);
  return file;
}

async function importInto(
  { source, target, selection, options: importOptions, takesAll, failedFile, confirm }: Importing,
  context: CallContext,
): Promise<Output> {
  const { RecordCounter, requestLines } = await import('../exports/recordCounter.ts');
  const { trackImport } = await import('../exports/trackTransfer.ts');
  const { describePlace, requireOtherInstance } = await import('../exports/placeInterfaces.ts');
  const isFile = source.takes === 'files';
  // If the source is a database, its export contains only the selected organisations, so the request of the import need
  // not select them. A mirroring import is an exception: it rejects the default organisation unless --org selects that
  // organisation.
  const orgIds = importOptions.mirror === true ? importOptions.orgIds : [];
  const options = isFile ? importOptions : { ...importOptions, orgIds, excludedOrgIds: [] };
  // Two different names can mean the same database, and the command must not import a database into itself.
  if (!isFile)
    requireOtherInstance(await describePlace(source, context.signal), await describePlace(target, context.signal));
  await using resources = new AsyncDisposableStack();
  const opened = resources.use(await openSource(source, selection, takesAll, context));
  const isCopied = (failedFile !== undefined || confirm !== undefined) && !opened.isRepeatable;
  // The command may read the content several times: for the dry run, for the import, and for the file of failed
  // records.
  const content = isCopied ? resources.use(await copyContent(source.name, opened, context)) : opened;
  const name = source.name;
  const trial = confirm && (await trackImport(target, { name, content }, { ...options, dryRun: true }, context));
  const maxDeleted = trial && (await confirm?.(trial));
  const counter = new RecordCounter(name, importOptions, isFile);
  const isRefused = trial !== undefined && maxDeleted === undefined;
  const consented = maxDeleted === undefined ? options : { ...options, maxDeleted };
  const response = isRefused ? trial : await trackImport(target, { name, content, counter }, consented, context);
  const storedFailures = failedFile && (await tryToStore(failedFile, content, response, context.signal));
  const { losses = [], notices = [] } = opened;
  const { humanUsers: people = 0 } = response.summary.created;
  const isWithout = !isFile && !selection.withPasswords && people > 0;
  const lost = `not imported: the passwords that ${counted(people, 'person')} may have in the source (--with passwords imports them)`;
  const { request } = counter;
  const requested = [...requestLines(request), ...(isWithout ? [lost] : [])];
  const { outcomeLine } = await import('../exports/outcomeTexts.ts');
  const file = { losses, notices, request, requested, storedFailures, isRefused, outcomeLine };
  return importOutput(response, target.name, isRefused ? { ...options, dryRun: true } : options, file);
}

/** Copies content that can be read only once, so that the command can read the copy repeatedly. */
async function copyContent(name: string, content: ExportFile, { output, signal }: CallContext): Promise<ExportFile> {
  const { makeRepeatable } = await import('../exports/fileContent.ts');
  const { RecordCounter } = await import('../exports/recordCounter.ts');
  const { countedContent, meterOf } = await import('../exports/trackTransfer.ts');
  const counter = new RecordCounter(name);
  return await trackPhase(output, `reading ${name}`, meterOf(content, counter), () =>
    makeRepeatable(countedContent(content, counter), signal),
  );
}

/**
 * The stored file of failed records. If storing it failed, `error` is the reason, which the command throws only after
 * it has printed the import's result.
 */
interface StoredFailures {
  readonly file?: FailedFile | undefined;
  readonly error?: unknown;
}

async function tryToStore(
  place: FilePlace,
  content: ExportFile,
  response: ImportResponse,
  signal: AbortSignal,
): Promise<StoredFailures> {
  const { storeFailed } = await import('../exports/failedRecords.ts');
  try {
    return { file: await storeFailed(place, content, response, signal) };
  } catch (error) {
    const { failureText } = await import('../terminal/describeError.ts');
    const done =
      'the import is complete, and its result is printed above; repeat the import to write the file of failed records';
    return { error: reportMissing({ file: place.name, reason: failureText(error), done }, { cause: error }) };
  }
}

function failedLines({ file, error }: StoredFailures): readonly string[] {
  if (error !== undefined) return [];
  if (file === undefined) return ['no record failed: the file for failed records is not written'];
  const { place, records, missing, partial } = file;
  const others =
    missing === 0
      ? ''
      : `; not in the file, because of the size or because the response does not list them: ${counted(missing, 'failed record')}`;
  const completed =
    partial === 0
      ? ''
      : `; add --on-conflict overwrite, to complete ${counted(partial, 'record')} that this import has stored incompletely`;
  return [
    `${counted(records, 'failed record')} in ${place}: correct these records, then import that file${completed}${others}`,
  ];
}

/**
 * Opens the source. If the source is a file and the call has --with, requires that --with selects all secrets of the
 * file.
 */
async function openSource(
  source: Place,
  options: PlaceExportOptions,
  takesAll: boolean,
  context: CallContext,
): Promise<ExportFile> {
  if (source.takes !== 'files' || takesAll) return source.readExport(options, context.signal);
  const { openWithSecrets } = await import('../exports/fileSecrets.ts');
  return openWithSecrets(source, options, context);
}

interface ImportedFile {
  readonly losses: readonly string[];
  readonly notices: readonly RecordWarning[];
  readonly request: ExportedRequest;
  /**
   * Lines about the content of the source: the secrets that the export included, request fields that the exporting
   * server ignored, and passwords that the import left out.
   */
  readonly requested: readonly string[];
  /** Undefined if the call has no `--failed`. */
  readonly storedFailures: StoredFailures | undefined;
  readonly isRefused: boolean;
  /**
   * Formats the counts of an outcome, such as `created`. The function is passed as a value, because its module is
   * loaded only for imports.
   */
  readonly outcomeLine: (outcome: string, counts: Counts) => string;
}

function importOutput(
  response: ImportResponse,
  target: string,
  { dryRun }: PlaceImportOptions,
  { losses, notices, request, requested, storedFailures, isRefused, outcomeLine }: ImportedFile,
): Output {
  const { errors = [], elsewhere = [], summary } = response;
  const { created, unchanged, overwritten = {}, skipped = {}, failed, notCarried, unconfirmed = {} } = summary;
  const { deleted = {} } = summary;
  const settled = { created, unchanged, overwritten, deleted, skipped, failed };
  const outcomes = { ...settled, 'not carried': notCarried, 'not confirmed': unconfirmed };
  const counts = Object.entries(outcomes).filter(([, bySection]) => Object.keys(bySection).length > 0);
  const isListed = errors.length > 0 || Object.keys(failed).length > 0;
  const isWritten = total(created) + total(overwritten) + total(deleted) > 0;
  const why = counts.length === 0 ? 'the source has no organisations' : `all records of the source exist in ${target}`;
  const unwritten = isListed || total(skipped) > 0 ? `nothing is imported into ${target}` : `nothing to import: ${why}`;
  const done = dryRun ? `dry run of an import into ${target}: nothing is written` : `imported into ${target}`;
  const failures = isListed ? `, with ${counted(errors.length + (summary.errorsOmitted ?? 0), 'error')}` : '';
  const heading = `${isWritten || dryRun ? done : unwritten}${failures}`;
  const text: Line[] = [
    ...elsewhereLines(elsewhere),
    { text: heading, style: isListed ? 'bad' : 'good' },
    ...counts.map(([outcome, bySection]) => outcomeLine(outcome, bySection)),
    ...(isRefused && !isListed
      ? [`to delete these records without a confirmation, add --yes and --max-deleted ${total(deleted)}`]
      : []),
    ...requested,
    ...section(deletionsTitle(summary.dryRun === true), deletionLines(deletionsOf(response))),
    ...(storedFailures === undefined ? [] : failedLines(storedFailures)),
    ...section('Not exported by ZITADEL', losses),
    ...noticeSection('error', errors, summary.errorsOmitted),
    ...noticeSection('warning', summary.warnings, summary.warningsOmitted, firstNotices(notices)),
  ];
  return {
    json: {
      event: 'result',
      ...response,
      ...request,
      ...withoutEmpty({ losses, notices }),
      ...defined({ failedFile: storedFailures?.file }),
    },
    text,
    afterwards: async () => {
      if (storedFailures?.error !== undefined) throw storedFailures.error;
    },
    exitStatus: () => {
      if (elsewhere.length > 0) return 'failed';
      if (isRefused && !isListed) return 'unconfirmed';
      return isListed || total(unconfirmed) > 0 ? 'listed' : 'done';
    },
  };
}
