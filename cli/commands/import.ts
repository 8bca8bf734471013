import { total } from '../../shared/collections/counts.ts';
import type { RecordWarning } from '../../shared/errors/warnings.ts';
import { transferOptions } from '../../shared/wire/transferOptions.ts';
import type { ImportResponse } from '../exports/importResponse.ts';
import type {
  DatabasePlace,
  ExportFile,
  Place,
  PlaceExportOptions,
  PlaceImportOptions,
} from '../exports/placeInterfaces.ts';
import type { ExportedRequest } from '../exports/recordCounter.ts';
import {
  eventsOption,
  exportChoices,
  exportOptionsOf,
  importChoices,
  importOptionsOf,
  placeDetails,
  progressOutput,
  secretsOfTwo,
  toOption,
} from '../places/placeOptions.ts';
import { defineCommand, interruptible, type Output, required, usageError } from '../terminal/command.ts';
import { elsewhereLines, firstNotices, noticeSection, withoutEmpty } from '../terminal/notices.ts';
import { counted, countList } from '../terminal/numberTexts.ts';
import type { ProgressOutput } from '../terminal/progress.ts';
import { type Line, section } from '../terminal/terminal.ts';
import { SECRET_CHOICES } from '../terminal/valueFormats.ts';

export const importCommand = defineCommand({
  name: 'import',
  summary: 'import organisations into an instance or a database',
  details: `${placeDetails} If the command was interrupted, repeat it: it resumes.`,
  arguments: [required('PLACE', 'the source')],
  options: {
    ...toOption('the instance or the database'),
    ...exportChoices,
    with: {
      ...exportChoices.with,
      meaning: `${SECRET_CHOICES}; by default all of a file`,
    },
    ...importChoices,
    ...transferOptions.dryRun.command,
    ...secretsOfTwo('the source', 'the target'),
    ...eventsOption,
  },
  examples: [
    'import north.json.gz --to https://id.example.com --token-file owner.pat --dry-run',
    'import gs://exports/north.json --to firestore:my-project/north --with all',
  ],
  run: async (call) => {
    const { openPlaces } = await import('../open/openPlaces.ts');
    const { requireEffects } = await import('../open/optionEffects.ts');
    const { requireOther } = await import('../places/parsePlace.ts');
    const {
      arguments: [from],
      options: given,
      signal,
    } = call;
    const [source, target] = await openPlaces(call, given, from, given.to);
    if (target.takes !== 'imports')
      throw usageError(`${target.name} cannot import: specify an instance or a database, or use identity export`);
    requireOther(source.name, target.name);
    await requireEffects(given, signal, { place: source }, { place: target });
    const selection = exportOptionsOf(call);
    const takesAll = source.takes === 'files' && given.with === undefined;
    const options = { ...importOptionsOf(call), withKeys: takesAll || selection.withKeys };
    const importing = { source, target, selection, options, takesAll };
    return interruptible(signal, interruption(target.name, options), () =>
      importInto(importing, progressOutput(call), signal),
    );
  },
});

interface Importing {
  readonly source: Place;
  readonly target: DatabasePlace;
  readonly selection: PlaceExportOptions;
  readonly options: PlaceImportOptions;
  /** Whether all secrets of a file are imported, because the call selects none. */
  readonly takesAll: boolean;
}

/** Imports one place into another. */
async function importInto(
  { source, target, selection, options: given, takesAll }: Importing,
  output: ProgressOutput,
  signal: AbortSignal,
): Promise<Output> {
  const { RecordCounter, requestLines } = await import('../exports/recordCounter.ts');
  const { trackImport } = await import('../exports/trackTransfer.ts');
  const { describePlace, requireOtherInstance } = await import('../exports/placeInterfaces.ts');
  const isFile = source.takes === 'files';
  // A place with a database has selected already.
  const options = isFile ? given : { ...given, orgIds: [], excludedOrgIds: [] };
  // A database must not be imported into itself under another name.
  if (!isFile) requireOtherInstance(await describePlace(source, signal), await describePlace(target, signal));
  await using content = await openSource(source, selection, takesAll, output, signal);
  const counter = new RecordCounter(source.name, given, isFile);
  const response = await trackImport(target, { name: source.name, content, counter }, options, output, signal);
  const { losses = [], notices = [] } = content;
  const { humanUsers: people = 0 } = response.summary.created;
  const isWithout = !isFile && !selection.withPasswords && people > 0;
  const lost = `not imported: the passwords of ${counted(people, 'person')}, if any (--with passwords)`;
  const { request } = counter;
  const requested = [...requestLines(request), ...(isWithout ? [lost] : [])];
  return importOutput(response, target.name, options, { losses, notices, request, requested });
}

/** Opens the export of the source; that of a file only if the call selects its secrets. */
async function openSource(
  source: Place,
  options: PlaceExportOptions,
  takesAll: boolean,
  output: ProgressOutput,
  signal: AbortSignal,
): Promise<ExportFile> {
  if (source.takes !== 'files' || takesAll) return source.readExport(options, signal);
  const { openWithSecrets } = await import('../exports/fileSecrets.ts');
  return openWithSecrets(source, options, output, signal);
}

function interruption(target: string, { dryRun }: PlaceImportOptions): string {
  if (dryRun) return `interrupted: nothing was written to ${target}`;
  return `interrupted: records already imported into ${target} remain; repeat the command to resume`;
}

interface ImportedFile {
  readonly losses: readonly string[];
  readonly notices: readonly RecordWarning[];
  readonly request: ExportedRequest;
  /** The lines of text about the request. */
  readonly requested: readonly string[];
}

function importOutput(
  response: ImportResponse,
  target: string,
  { dryRun }: PlaceImportOptions,
  { losses, notices, request, requested }: ImportedFile,
): Output {
  const { errors = [], elsewhere = [], summary } = response;
  const { created, unchanged, overwritten = {}, skipped = {}, failed, notCarried, unconfirmed = {} } = summary;
  const settled = { created, unchanged, overwritten, skipped, failed };
  const outcomes = { ...settled, 'not carried': notCarried, 'not confirmed': unconfirmed };
  const counts = Object.entries(outcomes).filter(([, bySection]) => Object.keys(bySection).length > 0);
  const isListed = errors.length > 0 || Object.keys(failed).length > 0;
  const isWritten = total(created) + total(overwritten) > 0;
  const why = counts.length === 0 ? 'the source has no organisations' : `all its records exist in ${target}`;
  const unwritten = isListed || total(skipped) > 0 ? `nothing is imported into ${target}` : `nothing to import: ${why}`;
  const done = dryRun ? `tried an import into ${target}, nothing is written` : `imported into ${target}`;
  const failures = isListed ? `, with ${counted(errors.length + (summary.errorsOmitted ?? 0), 'error')}` : '';
  const heading = `${isWritten || dryRun ? done : unwritten}${failures}`;
  const text: Line[] = [
    ...elsewhereLines(elsewhere),
    { text: heading, style: isListed ? 'bad' : 'good' },
    ...counts.map(([outcome, bySection]) => `${outcome}: ${countList(bySection)}`),
    ...requested,
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
    },
    text,
    exitStatus: () => {
      if (elsewhere.length > 0) return 'failed';
      return isListed || total(unconfirmed) > 0 ? 'listed' : 'done';
    },
  };
}
