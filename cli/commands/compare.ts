import { withoutEmpty } from '../../shared/defined.ts';
import { recordNoun, words } from '../../shared/errors/nouns.ts';
import type { RecordWarning } from '../../shared/errors/warnings.ts';
import { differenceLines, fieldTexts, notComparedLines } from '../comparison/differenceTexts.ts';
import type { DescribedPlace, Place, PlaceExportOptions } from '../exports/placeInterfaces.ts';
import {
  callContext,
  eventsOption,
  exportChoices,
  exportOptionsOf,
  placeDetails,
  secretsOfTwo,
} from '../places/placeOptions.ts';
import type { ComparedSides, RecordDifference } from '../records/runDatabase.ts';
import { missingKinds, secretNames, secretSelection } from '../records/secretSelection.ts';
import { defineCommand, interruptible, NOTHING_CHANGED, type Output, optional, required } from '../terminal/command.ts';
import { firstNotices, noticeSection } from '../terminal/notices.ts';
import { counted, figures, named, numberText } from '../terminal/numberTexts.ts';
import type { CallContext } from '../terminal/progress.ts';
import { type Line, section } from '../terminal/terminal.ts';

const DEFAULT_LIMIT = 100;

export const compareCommand = defineCommand({
  name: 'compare',
  summary: 'compare two places record by record, field by field',
  details: `${placeDetails} Compares records as an import would store them. With a file, compares only the organisations of the file. Compares the default organisations of two databases only if they are the same, or if --org selects them. The exit code is 3 if the places differ.`,
  arguments: [required('PLACE', 'the first place'), required('PLACE', 'the second place')],
  options: {
    ...secretsOfTwo('the first place', 'the second place'),
    ...exportChoices,
    limit: optional('COUNT', `differing records to list; by default ${DEFAULT_LIMIT}`, 'Run and output'),
    ...eventsOption,
  },
  examples: [
    'compare north.json.gz https://id.example.com --token-file owner.pat --with passwords',
    'compare sqlite:./north firestore:my-project/north',
  ],
  run: (call) =>
    interruptible(call.signal, NOTHING_CHANGED, async () => {
      const { openPlaces } = await import('../open/openPlaces.ts');
      const { requireEffects } = await import('../open/optionEffects.ts');
      const { requireRereadable } = await import('../places/parsePlace.ts');
      const { RunDatabase } = await import('../records/runDatabase.ts');
      const { compareSides, explainZitadels } = await import('../comparison/compareSides.ts');
      const { describePlace, importTarget, requireOtherInstance } = await import('../exports/placeInterfaces.ts');
      const { signal } = call;
      requireRereadable(...call.arguments);
      const [first, second] = await openPlaces(call, call.options, ...call.arguments);
      // Without --with, a comparison includes no secrets. Two files are an exception: without --with, their comparison
      // includes all secrets.
      const areFiles = first.takes === 'files' && second.takes === 'files';
      const isWhole = areFiles && call.options.with === undefined;
      const asked = { ...exportOptionsOf(call), ...(isWhole ? secretSelection(secretNames) : {}) };
      const described = [await describePlace(first, signal), await describePlace(second, signal)] as const;
      requireOtherInstance(...described);
      await requireEffects(call.options, signal, ...described);
      const [firstFacts, secondFacts] = described.map(({ facts }) => facts);
      const { withoutOrganisation } = await import('../exports/defaultOrganisation.ts');
      const staying = await stayingOrganisations(described, asked);
      const options = staying.reduce((selection, { orgId }) => withoutOrganisation(selection, orgId), asked);
      using database = new RunDatabase(options, importTarget(secondFacts, {}));
      const explain = explainZitadels([firstFacts, secondFacts], database.imports);
      const maxListed = call.options.limit ?? DEFAULT_LIMIT;
      const context = callContext(call);
      const sides = await selectOrganisations([first, second], options, context);
      const lagging = [firstFacts?.service === 'zitadel', secondFacts?.service === 'zitadel'] as const;
      const { compared, read } = await compareSides({ database, maxListed, explain, ...sides, lagging }, context);
      const { requireOrganisations } = await import('../exports/recordCounter.ts');
      requireOrganisations(`neither ${first.name} nor ${second.name} has`, options, read);
      const notices = read.flatMap((side) => side.notices);
      return compareOutput(compared, options, [first.name, second.name], { staying, notices });
    }),
});

interface StayingOrganisation {
  readonly orgId: string;
  readonly of: string;
}

/**
 * Returns the default organisations that a comparison of two databases excludes. Default organisations differ even
 * after a migration, because their users operate the instance. If one database is a copy of the other, both have the
 * same default organisation, and the comparison includes this organisation.
 */
async function stayingOrganisations(
  sides: readonly [DescribedPlace, DescribedPlace],
  { orgIds }: PlaceExportOptions,
): Promise<readonly StayingOrganisation[]> {
  const { stayingOrganisation } = await import('../exports/defaultOrganisation.ts');
  const [first, second] = sides.map(({ facts }) => stayingOrganisation(facts, orgIds));
  if (sides.some(({ facts }) => facts === undefined) || first === second) return [];
  return sides.flatMap(({ place, facts }) => {
    const orgId = stayingOrganisation(facts, orgIds);
    return orgId === undefined ? [] : [{ orgId, of: place.name }];
  });
}

/** If exactly one side is a file, limits the export of the other side to the organisations in the file. */
async function selectOrganisations(
  [first, second]: readonly [Place, Place],
  options: PlaceExportOptions,
  context: CallContext,
) {
  const { onlyOrganisationsOf } = await import('../comparison/compareSides.ts');
  if (first.takes === second.takes)
    return { first: { place: first, options }, second: { place: second, options: () => options } };
  if (first.takes === 'files')
    return { first: { place: first, options }, second: onlyOrganisationsOf(second, options) };
  const { inspectPlace } = await import('../exports/inspectPlace.ts');
  const file = await inspectPlace(second, options, context);
  const only = onlyOrganisationsOf(first, options);
  return { first: { ...only, options: only.options(file) }, second: { place: second, options: () => options } };
}

interface ComparedSelection {
  readonly staying: readonly StayingOrganisation[];
  readonly notices: readonly RecordWarning[];
}

function compareOutput(
  compared: ComparedSides,
  options: PlaceExportOptions,
  names: readonly [string, string],
  { staying, notices }: ComparedSelection,
): Output {
  const { isEqual, counts, differences, expected } = compared;
  const notCompared = missingKinds(options);
  const sections = [...counts].map(([name, { equal, different, differentAsExpected, onlyFirst, onlySecond }]) => {
    const inBoth = { different, 'different as expected': differentAsExpected };
    const others = { ...inBoth, [`only in ${names[0]}`]: onlyFirst, [`only in ${names[1]}`]: onlySecond };
    return `${words(name)}: ${[`${numberText(equal)} equal`, ...figures(others)].join(', ')}`;
  });
  const verdict = verdictOf(compared, notCompared.length === 0);
  const listed = differences.entries.flatMap((difference) => comparedLines(difference, names));
  const explained = expected.entries.map(
    (difference) =>
      `${recordNoun(difference.section)} ${named(difference.id, difference.name)} of ${difference.orgId}: ${difference.reason}`,
  );
  const text: Line[] = [
    { text: verdict, style: isEqual ? 'good' : 'bad' },
    ...sections,
    ...notComparedLines(notCompared),
    ...staying.map(
      ({ orgId, of }) => `not compared: ${orgId}, the default organisation of ${of} (--org ${orgId} compares it)`,
    ),
    ...noticeSection('warning', [], 0, firstNotices(notices)),
    ...section('Differences as expected', [...explained, ...further(expected.omitted, '')]),
    ...section('Differences', [...listed, ...further(differences.omitted, ': --limit lists more')]),
  ];
  const json = {
    event: 'result',
    equal: isEqual,
    counts: Object.fromEntries(counts),
    notCompared,
    differences: differences.entries,
    omitted: differences.omitted,
    expected: expected.entries,
    expectedCount: expected.size,
    ...withoutEmpty({ notices }),
  };
  return { json, text, exitStatus: () => (isEqual ? 'done' : 'listed') };
}

function verdictOf({ isEqual, counts, expected }: ComparedSides, isWhole: boolean): string {
  if (!isEqual) return 'different';
  if (counts.size === 0) return 'nothing to compare: neither place has records';
  const equal = isWhole ? 'equal' : 'all compared records are equal';
  return expected.size === 0 ? equal : `${equal}, except for expected differences of ZITADEL`;
}

function further(omitted: number, remedy: string): string[] {
  return omitted === 0 ? [] : [`and ${counted(omitted, 'further record')}${remedy}`];
}

function comparedLines(difference: RecordDifference, [first, second]: readonly [string, string]): string[] {
  const { outcome, fields = [] } = difference;
  const onlyIn = { different: undefined, onlyFirst: first, onlySecond: second }[outcome];
  return differenceLines(difference, onlyIn, fieldTexts(fields, ['the first', 'the second']));
}
