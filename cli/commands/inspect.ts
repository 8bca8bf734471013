import { defined, withoutEmpty } from '../../shared/defined.ts';
import { words } from '../../shared/errors/nouns.ts';
import type { CountedEntry } from '../../shared/exportFile/leftToDo.ts';
import type { CertainIssues } from '../exports/certainIssues.ts';
import type { FileFacts } from '../exports/fileFacts.ts';
import type { PlaceInspection } from '../exports/inspectPlace.ts';
import type { Place, UnexportedOrganisation } from '../exports/placeInterfaces.ts';
import {
  callContext,
  eventsOption,
  exportChoices,
  exportOptionsOf,
  placeDetails,
  secretOptions,
} from '../places/placeOptions.ts';
import { defineCommand, type Output, required } from '../terminal/command.ts';
import { firstNotices, noticeLines, noticeSection } from '../terminal/notices.ts';
import { counted, countList, hashLine, numberText } from '../terminal/numberTexts.ts';
import { section } from '../terminal/terminal.ts';

export const inspectCommand = defineCommand({
  name: 'inspect',
  summary: 'validate the export of a place, and list its content',
  details: `${placeDetails} The command lists counts, sizes, hash formats, secrets, and manual steps after an import.`,
  arguments: [required('PLACE', 'the place')],
  options: { ...secretOptions, ...exportChoices, ...eventsOption },
  examples: ['inspect north.json.gz', 'inspect https://id.example.com --token-file owner.pat --with passwords,otp'],
  run: async (call) => {
    const { openOnlyPlace } = await import('../open/openPlaces.ts');
    const { noEffect, requireEffects } = await import('../open/optionEffects.ts');
    const { TemporaryDatabase } = await import('../../shared/collections/temporaryDatabase.ts');
    const { anyZitadel, ImportFacts } = await import('../records/importFacts.ts');
    const { FileFacts: Facts } = await import('../exports/fileFacts.ts');
    const { inspectPlace } = await import('../exports/inspectPlace.ts');
    const place = await openOnlyPlace(call, call.options, call.arguments[0]);
    if (place.takes === 'files' && call.options.with !== undefined)
      throw noEffect('--with', 'a file is inspected with all its secrets');
    await requireEffects(call.options, call.signal, { place });
    using database = new TemporaryDatabase('');
    const facts = new Facts(new ImportFacts(database, anyZitadel));
    const unexported: UnexportedOrganisation[] = [];
    const onUnexported = (organisation: UnexportedOrganisation) => void unexported.push(organisation);
    const options = { ...exportOptionsOf(call), onUnexported };
    const context = callContext(call);
    const { findCertainIssues, noIssues } = await import('../exports/certainIssues.ts');
    let issues = noIssues;
    const inspection = await inspectPlace(place, options, context, {
      visitor: facts,
      use: async (file, read) => {
        issues = await findCertainIssues(file, read, options, context);
      },
    });
    const { requestLines, requireOrganisations } = await import('../exports/recordCounter.ts');
    requireOrganisations(`${place.name} does not have`, options, [inspection, { organisations: unexported }]);
    return inspectOutput(place, { ...inspection, unexported, issues }, facts, requestLines(inspection.request));
  },
});

function inspectOutput(
  { name, takes }: Place,
  {
    bytes,
    organisations,
    unknown,
    unknownStates,
    manifest,
    request,
    losses,
    notices,
    unexported,
    issues,
  }: PlaceInspection & {
    readonly unexported: readonly UnexportedOrganisation[];
    readonly issues: CertainIssues;
  },
  facts: FileFacts,
  requested: readonly string[],
): Output {
  const { sections, hashFormats } = facts;
  const secrets = facts.secrets.counts;
  const leftToDo = facts.leftToDo(request);
  const leftToDoInZitadel = facts.leftToDo(request, true);
  const json = {
    event: 'result',
    bytes,
    organisations: organisations.length,
    sections: Object.fromEntries(sections),
    secrets,
    hashFormats,
    unknown,
    ...defined({ unknownStates }),
    manifest: manifest === undefined ? null : { ...manifest, ...request },
    leftToDo,
    leftToDoInZitadel,
    ...withoutEmpty({ ...issues, unexported, losses, notices }),
  };
  const origin =
    manifest === undefined
      ? 'no manifest: the completeness of the file cannot be verified'
      : `manifest version ${manifest.version}: exported by ${manifest.instance} at ${manifest.readTime}, complete and unchanged`;
  const inZitadel = takes === 'files' ? onlyIn(leftToDoInZitadel, leftToDo) : [];
  const text = [
    `${name}: ${counted(organisations.length, 'organisation')}, ${counted(bytes, 'byte')} of JSON`,
    origin,
    ...unexported.map(({ message }) => `not exported: ${message}`),
    ...requested,
    ...noticeSection('error', issues.errors, issues.errorsOmitted),
    ...section(
      'Sections',
      [...sections].map(
        ([section, of]) => `${words(section)}: ${counted(of.records, 'record')}, ${counted(of.bytes, 'byte')}`,
      ),
    ),
    `secrets: ${countList(secrets)}`,
    hashLine(hashFormats),
    ...Object.entries(unknown).map(
      ([field, count]) => `unknown field, which an import ignores: ${field} (${numberText(count)})`,
    ),
    ...section('Not exported by ZITADEL', losses),
    ...noticeSection('warning', issues.warnings, issues.warningsOmitted, firstNotices(notices)),
    ...noticeSection('left to do', leftToDo),
    ...section('Left to do in ZITADEL', noticeLines(inZitadel, 'thing left to do')),
  ];
  const isComplete = unexported.length === 0 && issues.errors.length === 0;
  return { json, text, exitStatus: () => (isComplete ? 'done' : 'listed') };
}

function onlyIn(entries: readonly CountedEntry[], others: readonly CountedEntry[]): readonly CountedEntry[] {
  const otherEntries = new Set(others.map((entry) => JSON.stringify(entry)));
  return entries.filter((entry) => !otherEntries.has(JSON.stringify(entry)));
}
