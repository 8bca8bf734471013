import type { CountedEntry } from '../../shared/exportFile/leftToDo.ts';
import type { FileFacts } from '../exports/fileFacts.ts';
import type { PlaceInspection } from '../exports/inspectPlace.ts';
import type { Place, UnexportedOrganisation } from '../exports/placeInterfaces.ts';
import {
  eventsOption,
  exportChoices,
  exportOptionsOf,
  placeDetails,
  progressOutput,
  secretOptions,
} from '../places/placeOptions.ts';
import { defineCommand, type Output, required } from '../terminal/command.ts';
import { firstNotices, type Notice, noticeLines, noticeSection, withoutEmpty } from '../terminal/notices.ts';
import { words } from '../terminal/nouns.ts';
import { counted, countList, hashLine, numberText } from '../terminal/numberTexts.ts';
import { section } from '../terminal/terminal.ts';

export const inspectCommand = defineCommand({
  name: 'inspect',
  summary: 'validate the export of a place, and list its content',
  details: `${placeDetails} The content: counts, sizes, hash formats, secrets, and manual steps after an import.`,
  arguments: [required('PLACE', 'the place')],
  options: { ...secretOptions, ...exportChoices, ...eventsOption },
  examples: ['inspect north.json.gz', 'inspect https://id.example.com --token-file owner.pat --with passwords,otp'],
  run: async (call) => {
    const { openOnlyPlace } = await import('../open/openPlaces.ts');
    const { FileFacts: Facts } = await import('../exports/fileFacts.ts');
    const { inspectPlace } = await import('../exports/inspectPlace.ts');
    const place = await openOnlyPlace(call, call.options, call.arguments[0]);
    const facts = new Facts();
    const unexported: UnexportedOrganisation[] = [];
    const onUnexported = (one: UnexportedOrganisation) => void unexported.push(one);
    const options = { ...exportOptionsOf(call), onUnexported };
    const inspection = await inspectPlace(place, options, facts, progressOutput(call), call.signal);
    const { requestLines, requireOrganisations } = await import('../exports/recordCounter.ts');
    const { stateWarnings } = await import('../../shared/exportFile/fileWarnings.ts');
    requireOrganisations(`${place.name} does not have`, options, [inspection, { organisations: unexported }]);
    const warnings = stateWarnings(inspection);
    return inspectOutput(place, { ...inspection, unexported, warnings }, facts, requestLines(inspection.request));
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
    warnings,
  }: PlaceInspection & {
    readonly unexported: readonly UnexportedOrganisation[];
    readonly warnings: readonly Notice[];
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
    ...(unknownStates === undefined ? {} : { unknownStates }),
    manifest: manifest === undefined ? null : { ...manifest, ...request },
    leftToDo,
    leftToDoInZitadel,
    ...withoutEmpty({ errors: facts.invalid.entries, warnings, unexported, losses, notices }),
    ...(facts.invalid.omitted === 0 ? {} : { errorsOmitted: facts.invalid.omitted }),
  };
  const origin =
    manifest === undefined
      ? 'no manifest: its completeness cannot be verified'
      : `manifest version ${manifest.version}: exported by ${manifest.instance} at ${manifest.readTime}, complete and unchanged`;
  const inZitadel = takes === 'files' ? onlyIn(leftToDoInZitadel, leftToDo) : [];
  const text = [
    `${name}: ${counted(organisations.length, 'organisation')}, ${counted(bytes, 'byte')} of JSON`,
    origin,
    ...unexported.map(({ message }) => `not exported: ${message}`),
    ...requested,
    ...noticeSection('error', facts.invalid.entries, facts.invalid.omitted),
    ...section(
      'Sections',
      [...sections].map(([one, of]) => `${words(one)}: ${counted(of.records, 'record')}, ${counted(of.bytes, 'byte')}`),
    ),
    `secrets: ${countList(secrets)}`,
    hashLine(hashFormats),
    ...Object.entries(unknown).map(([field, count]) => `unknown, and not imported: ${field} (${numberText(count)})`),
    ...section('Not exported by ZITADEL', losses),
    ...noticeSection('warning', warnings, 0, firstNotices(notices)),
    ...noticeSection('left to do', leftToDo),
    ...section('Left to do in ZITADEL', noticeLines(inZitadel, 'thing left to do')),
  ];
  const isComplete = unexported.length === 0 && facts.invalid.size === 0;
  return { json, text, exitStatus: () => (isComplete ? 'done' : 'listed') };
}

function onlyIn(entries: readonly CountedEntry[], others: readonly CountedEntry[]): readonly CountedEntry[] {
  const known = new Set(others.map((entry) => JSON.stringify(entry)));
  return entries.filter((entry) => !known.has(JSON.stringify(entry)));
}
