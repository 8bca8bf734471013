import type { ImportResponse } from '../../functions/import/contract.ts';
import { total } from '../../shared/collections/counts.ts';
import { defineCommand, flag, interruptible, type Output, required, UsageError } from '../command.ts';
import type { PlaceImportOptions } from '../exports/placeInterfaces.ts';
import type { ExportedRequest } from '../exports/recordCounter.ts';
import { missingStatesLines, noticeSection } from '../notices.ts';
import { counted, countList } from '../numberTexts.ts';
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
import { type Line, section } from '../terminal.ts';
import { SECRET_CHOICES } from '../valueFormats.ts';

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
    'dry-run': flag('report what would be done, and write nothing', 'Run and output'),
    ...secretsOfTwo('the source', 'the target'),
    ...eventsOption,
  },
  examples: [
    'import north.json.gz --to https://id.example.com --token-file owner.pat --dry-run',
    'import gs://exports/north.json --to firestore:my-project/north --with all',
  ],
  run: async (call) => {
    const { openPlaces } = await import('../places/openPlaces.ts');
    const { requireOther } = await import('../places/parsePlace.ts');
    const { requireOtherInstance } = await import('../exports/placeInterfaces.ts');
    const { RecordCounter, requestLines } = await import('../exports/recordCounter.ts');
    const { trackImport } = await import('../exports/trackTransfer.ts');
    const { fitsQuery } = await import('../places/importQuery.ts');
    const { openWithSecrets } = await import('../exports/fileSecrets.ts');
    const {
      arguments: [from],
      signal,
    } = call;
    const [source, target] = await openPlaces(call, call.options, from, call.options.to);
    if (target.takes !== 'imports')
      throw new UsageError(`${target.name} cannot import: specify an instance or a database, or use identity export`);
    requireOther(source.name, target.name);
    const selection = exportOptionsOf(call);
    const isFile = source.takes === 'files';
    const takesAll = isFile && call.options.with === undefined;
    const given = { ...importOptionsOf(call), withKeys: takesAll || selection.withKeys };
    if (isFile && target.isRemote === true && !fitsQuery(given))
      throw new UsageError(
        '--org and --exclude-org are too long for a request: specify fewer organisations per call, or export a file that contains only those',
      );
    // A place with a database has selected already.
    const options = isFile ? given : { ...given, orgIds: [], excludedOrgIds: [] };
    return interruptible(signal, interruption(target.name, options), async () => {
      if (source.takes === 'imports') {
        const sourceFacts = await source.facts(['export'], signal);
        const targetFacts = await target.facts(['export'], signal);
        requireOtherInstance({ place: source, facts: sourceFacts }, { place: target, facts: targetFacts });
      }
      const output = progressOutput(call);
      await using content =
        isFile && !takesAll
          ? await openWithSecrets(source, selection, selection, output, signal)
          : await source.readExport(selection, signal);
      const counter = new RecordCounter(source.name, given, isFile);
      const response = await trackImport(target, { name: source.name, content, counter }, options, output, signal);
      const { losses = [], missingStates = [] } = content;
      const { humanUsers: people = 0 } = response.summary.created;
      const isWithout = !isFile && !selection.withPasswords && people > 0;
      const lost = `not imported: the passwords of ${counted(people, 'person')}, if any (--with passwords)`;
      const { request } = counter;
      const requested = [...requestLines(request), ...(isWithout ? [lost] : [])];
      return importOutput(response, target.name, options, { losses, missingStates, request, requested });
    });
  },
});

function interruption(target: string, { dryRun }: PlaceImportOptions): string {
  if (dryRun) return `interrupted: nothing was written to ${target}`;
  return `interrupted: records already imported into ${target} remain; repeat the command to resume`;
}

interface ImportedFile {
  readonly losses: readonly string[];
  readonly missingStates: readonly string[];
  readonly request: ExportedRequest;
  /** The lines of text about the request. */
  readonly requested: readonly string[];
}

function importOutput(
  response: ImportResponse,
  target: string,
  { dryRun }: PlaceImportOptions,
  { losses, missingStates, request, requested }: ImportedFile,
): Output {
  const { errors = [], summary } = response;
  const { created, unchanged, overwritten = {}, skipped = {}, failed, notCarried } = summary;
  const outcomes = { created, unchanged, overwritten, skipped, failed, 'not carried': notCarried };
  const counts = Object.entries(outcomes).filter(([, bySection]) => Object.keys(bySection).length > 0);
  const isListed = errors.length > 0 || Object.keys(failed).length > 0;
  const isWritten = total(created) + total(overwritten) > 0;
  const why = counts.length === 0 ? 'the source has no organisations' : `all its records exist in ${target}`;
  const unwritten = isListed || total(skipped) > 0 ? `nothing is imported into ${target}` : `nothing to import: ${why}`;
  const done = dryRun ? `tried an import into ${target}, nothing is written` : `imported into ${target}`;
  const failures = isListed ? `, with ${counted(errors.length + (summary.errorsOmitted ?? 0), 'error')}` : '';
  const heading = `${isWritten || dryRun ? done : unwritten}${failures}`;
  const text: Line[] = [
    { text: heading, style: isListed ? 'bad' : 'good' },
    ...counts.map(([outcome, bySection]) => `${outcome}: ${countList(bySection)}`),
    ...requested,
    ...section('Not exported by ZITADEL', losses),
    ...noticeSection('error', errors, summary.errorsOmitted),
    ...noticeSection('warning', summary.warnings, summary.warningsOmitted, missingStatesLines(missingStates)),
  ];
  return {
    json: {
      event: 'result',
      ...response,
      ...request,
      ...(losses.length === 0 ? {} : { losses }),
      ...(missingStates.length === 0 ? {} : { missingStates }),
    },
    text,
    exitStatus: () => (isListed ? 'listed' : 'done'),
  };
}
