import { BASE } from '../base.ts';
import { type Bound, type Figure, type Measure, ratioFigure } from '../measure.ts';
import { besideBase } from '../scenarios/beside.ts';

/** So much may a figure be worse than the base's, since a round's figures vary by themselves. */
const TOLERANCE = 0.1;

/** Figures of this version, of the base, and of one beside the other. */
function beside(name: string, title: string, unit: Figure['unit'], goal?: Bound): Figure[] {
  const isRate = unit === 'users/s' || unit === 'removals/s';
  const bound = isRate ? { least: 1 - TOLERANCE } : { most: 1 + TOLERANCE };
  return [
    { name, title, unit, ...(goal && { goal }) },
    { name: `${name}Base`, title: `${title}, base`, unit },
    ratioFigure(`${name}Ratio`, `${title}, of the base`, bound),
  ];
}

const compared = `this version and the base, commit ${BASE}, one after the other`;

/** The measures that show what this version gains or loses beside the base. */
export const besides: readonly Measure[] = [
  {
    name: 'beside-import',
    title: 'imports beside the base',
    compared: `imports in process and into \`identity serve\` through HTTP, by ${compared}: all processors' time for each user`,
    scenario: besideBase,
    figures: [
      ...beside('importCpu', 'in process', 'us', { most: 100 }),
      ...beside('againCpu', 'again, in process', 'us', { most: 80 }),
      ...beside('servedCpu', 'through HTTP', 'us', { most: 100 }),
      ...beside('servedAgainCpu', 'again, through HTTP', 'us', { most: 80 }),
      ...beside('servedRate', 'through HTTP, users', 'users/s', { least: 11_000 }),
      ...beside('peak', 'peak memory of the server', 'MB', { most: 270 }),
    ],
  },
  {
    name: 'beside-export',
    title: 'exports beside the base',
    compared: `exports with secrets through HTTP, of all users and of an organisation of 1,000, by ${compared}`,
    scenario: besideBase,
    figures: [
      ...beside('exportCpu', 'all', 'us'),
      ...beside('exportRate', 'all, users', 'users/s', { least: 125_000 }),
      ...beside('smallCpu', 'one organisation', 'us'),
      ...beside('smallRate', 'one organisation, users', 'users/s', { least: 105_000 }),
    ],
  },
  {
    name: 'beside-removal',
    title: 'removals beside the base',
    compared: `removals over 32 connections, by ${compared}: all processors' time of the server for each`,
    scenario: besideBase,
    figures: [
      ...beside('removalCpu', 'of one removal', 'us'),
      ...beside('removalRate', '32 connections', 'removals/s', { least: 7_000 }),
    ],
  },
];
