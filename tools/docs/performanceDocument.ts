import type { Figure, Measure } from '../../bench/measure.ts';
import { measures } from '../../bench/measures.ts';
import { type MeasureResult, MILLION, readResults } from '../../bench/results.ts';
import { boundText, judge, summarise, type Verdict, valueText } from '../../bench/verdict.ts';
import { type Bar, drawBarPlot } from '../plots.ts';
import { table } from './markdown.ts';
import { performanceProse } from './performanceProse.ts';

/** A measure with a result of it. */
interface Measured {
  readonly measure: Measure;
  readonly result: MeasureResult;
}

const verdictTexts: Readonly<Record<Verdict, string>> = {
  reached: 'reached',
  accepted: 'missed, accepted',
  missed: 'missed',
  none: '',
};

/** The bar plots, by their files' names: each shows the figures of some measures that have one unit. */
const plots = [
  { name: 'performance-transfers.svg', title: 'Imports and exports', unit: 'users/s' },
  { name: 'performance-removals.svg', title: 'Removals, embedded', unit: 'removals/s' },
] as const;

/** Writes the document of the measurements. */
export function performanceDocument(): string {
  const measured = measuredRows();
  const usual = measured.filter(({ result }) => result.users !== MILLION);
  const ofMillion = measured.filter(({ result }) => result.users === MILLION);
  return [
    '# Performance',
    performanceProse.introduction,
    ...plots.map(({ name, title }) => `![${title}](${name})`),
    '## Goals and figures',
    performanceProse.figures,
    figuresTable(usual),
    ...(ofMillion.length === 0 ? [] : ['## A million users', figuresTable(ofMillion)]),
    '## What is compared',
    measures.map(({ name, compared }) => `- **${name}**: ${compared}.`).join('\n'),
    '## Accepted',
    performanceProse.accepted,
    acceptedList(),
    '## Where the time goes',
    performanceProse.time(findMedian(measured)),
    '## What was tried and did not pay',
    performanceProse.tried,
    '## Machine and versions',
    environmentsTable(measured),
  ].join('\n\n');
}

/** Draws the plots of the document, by their files' names. */
export function performancePlots(): ReadonlyMap<string, string> {
  const usual = measuredRows().filter(({ result }) => result.users !== MILLION);
  return new Map(
    plots.map(({ name, title, unit }) => [name, drawBarPlot({ title, x: unit, bars: bars(usual, unit) })]),
  );
}

function measuredRows(): readonly Measured[] {
  const results = readResults();
  return measures.flatMap((measure) =>
    results.filter((result) => result.measure === measure.name).map((result) => ({ measure, result })),
  );
}

function bars(measured: readonly Measured[], unit: string): Bar[] {
  return measured.flatMap(({ measure, result }) =>
    measure.figures
      .filter((figure) => figure.unit === unit)
      .map((figure) => ({
        name: `${measure.name}: ${figure.title}`,
        ...summarise(result.rounds, figure.name),
        ...(figure.goal && { goal: 'least' in figure.goal ? figure.goal.least : figure.goal.most }),
      })),
  );
}

function figuresTable(measured: readonly Measured[]): string {
  const head = ['measure', 'figure', 'median', 'spread', 'goal', ''];
  return table(
    head,
    measured.flatMap(({ measure, result }) => measure.figures.map((figure) => figureCells(measure, figure, result))),
  );
}

function figureCells(measure: Measure, figure: Figure, { rounds }: MeasureResult): string[] {
  const summary = summarise(rounds, figure.name);
  const spread = `${valueText(figure, summary.least)} to ${valueText(figure, summary.most)}`;
  const goal = figure.goal === undefined ? '' : boundText(figure.goal);
  const cells = [figure.title, valueText(figure, summary.median), spread, goal, verdictTexts[judge(figure, summary)]];
  return [figure === measure.figures[0] ? measure.title : '', ...cells];
}

function acceptedList(): string {
  const lines = measures.flatMap(({ title, figures }) =>
    figures.flatMap(({ title: figure, goal, accepted }) =>
      goal === undefined || accepted === undefined
        ? []
        : `- ${title}, ${figure}: ${boundText(accepted.bound)} instead of ${boundText(goal)}; ${accepted.reason}.`,
    ),
  );
  return lines.join('\n');
}

function findMedian(measured: readonly Measured[]): (measure: string, figure: string) => number {
  return (measure, figure) => {
    const found = measured.find(({ result }) => result.measure === measure && result.users !== MILLION);
    if (found === undefined) throw new Error(`bench/results has no ${measure}: run npm run bench -- --write`);
    return summarise(found.result.rounds, figure).median;
  };
}

function environmentsTable(measured: readonly Measured[]): string {
  const machines = new Set(measured.map(({ result }) => machine(result)));
  const rows = measured.map(({ measure, result: { users, rounds, environment } }) => [
    measure.name,
    users.toLocaleString('en'),
    String(rounds.length),
    environment.date,
    String(environment.load),
  ]);
  const head = ['measure', 'users', 'rounds', 'date', 'load average at the end'];
  return [...machines, '', table(head, rows)].join('\n');
}

function machine({ environment }: MeasureResult): string {
  const { cores, processor, memoryGiB, system, node, sqlite } = environment;
  return `- ${cores} cores of ${processor}, ${memoryGiB} GiB of memory, ${system}; Node ${node}, SQLite ${sqlite}`;
}
