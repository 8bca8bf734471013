import { defineCommand, type Output, optional, required, UsageError } from '../command.ts';
import type { FieldDifference } from '../compare/comparedRecord.ts';
import type { Comparison, RecordDifference } from '../compare/comparison.ts';
import { eventsOption, exportChoices, exportOptions, progressOutput, secretsOfTwo } from '../places/callOptions.ts';
import type { ExportOptions } from '../places/place.ts';
import { printable } from '../printable.ts';
import { missingKinds } from '../values.ts';

const DEFAULT_LIMIT = 100;

export const compare = defineCommand({
  name: 'compare',
  summary:
    'compare two places field by field: organisations, sections and records, as an import would store them; exit code 3 if they differ',
  arguments: [required('PLACE', 'the first place'), required('PLACE', 'the second place')],
  options: {
    ...exportChoices,
    with: { ...exportChoices.with, meaning: 'the secrets to compare, such as passwords,otp,keys; by default none' },
    limit: optional('COUNT', `how many differing records to list; by default ${DEFAULT_LIMIT}`),
    ...secretsOfTwo('the first place', 'the second place'),
    ...eventsOption,
  },
  examples: [
    'compare north.json.gz https://id.example.com --token-file owner.pat --with passwords',
    'compare sqlite:./north firestore:my-project/north',
  ],
  run: async (call) => {
    const { openPlaces } = await import('../places/openPlaces.ts');
    const { compareTwo } = await import('../compare/compareTwo.ts');
    const [first, second] = await openPlaces(call, call.options, ...call.arguments);
    if (first.name === '-' && second.name === '-') throw new UsageError('- can be one of the places only');
    const options = exportOptions(call);
    const maxListed = call.options.limit ?? DEFAULT_LIMIT;
    const comparing = { maxListed, output: progressOutput(call), signal: call.signal };
    using comparison = await compareTwo([first, second], options, comparing);
    return compared(comparison, options, [first.name, second.name]);
  },
});

function compared(comparison: Comparison, options: ExportOptions, names: readonly [string, string]): Output {
  const { isEqual, counts } = comparison;
  const { entries: differences, omitted } = comparison.differences;
  const { entries: expected, size: expectedCount } = comparison.expected;
  const notCompared = missingKinds(options);
  const sections = [...counts].map(([section, { equal, different, onlyFirst, onlySecond }]) => {
    const others = [
      ...(different === 0 ? [] : [`${different} different`]),
      ...(onlyFirst === 0 ? [] : [`${onlyFirst} only in ${names[0]}`]),
      ...(onlySecond === 0 ? [] : [`${onlySecond} only in ${names[1]}`]),
    ];
    return `${section}: ${[`${equal} equal`, ...others].join(', ')}`;
  });
  const lines = [
    isEqual ? (expectedCount === 0 ? 'equal' : 'equal, but for what ZITADEL makes differ') : 'different',
    ...sections,
    ...(notCompared.length === 0 ? [] : [`not compared: ${notCompared.join(', ')} (--with)`]),
    ...differences.flatMap((difference) => differenceLines(difference, names)),
    ...(omitted === 0 ? [] : [`${omitted} more records differ: --limit lists more`]),
    ...expected.map(({ section, id, orgId, reason }) => `expected: ${section} ${id} of ${orgId}: ${reason}`),
    ...(expectedCount === expected.length ? [] : [`${expectedCount - expected.length} more differ as expected`]),
  ];
  const json = { equal: isEqual, counts: Object.fromEntries(counts), notCompared, differences, omitted };
  return {
    json: { event: 'result', ...json, expected, expectedCount },
    text: lines.map(printable).join('\n'),
    exitStatus: () => (isEqual ? 'done' : 'listed'),
  };
}

function differenceLines(difference: RecordDifference, [first, second]: readonly [string, string]): string[] {
  const { outcome, section, orgId, id, fields = [] } = difference;
  const record = `${section} ${id} of ${orgId}`;
  if (outcome === 'different') return fields.map((field) => `${record}: ${fieldText(field)}`);
  return [`${record}: only in ${outcome === 'onlyFirst' ? first : second}`];
}

function fieldText(field: FieldDifference): string {
  if ('secret' in field) return `${field.path}: a secret, ${field.secret}`;
  return `${field.path}: ${valueText(field.first)} | ${valueText(field.second)}`;
}

const MAX_CHARACTERS = 200;

function valueText(value: unknown): string {
  if (value === undefined) return '(absent)';
  const text = JSON.stringify(value);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
