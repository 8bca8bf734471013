import { type Measure, ratioFigure } from '../measure.ts';
import { organisations } from '../scenarios/organisations.ts';
import { embedded } from './stores.ts';

const manyAgainstOne = 'an export of 1,000 organisations of 10 users, against one organisation of 10,000';

/** The measures of exports. */
export const exports: readonly Measure[] = [
  {
    name: 'export-embedded',
    title: 'export, embedded, one large organisation',
    compared: 'an export with secrets, against a loop that reads every row and writes its text',
    scenario: embedded,
    figures: [
      ratioFigure('exportRatio', 'of the raw loop', { least: 0.35 }),
      { name: 'exportRate', title: 'with secrets', unit: 'users/s', goal: { least: 100_000 } },
      { name: 'bareExportRate', title: 'without secrets', unit: 'users/s', goal: { least: 130_000 } },
      { name: 'rawReadRate', title: 'raw loop', unit: 'users/s' },
    ],
  },
  {
    name: 'organisations-embedded',
    title: 'export of many organisations, embedded',
    compared: manyAgainstOne,
    scenario: organisations('sqlite'),
    figures: [
      ratioFigure('manyRatio', 'of one organisation', { least: 0.5 }),
      { name: 'manyRate', title: '1,000 organisations', unit: 'users/s' },
      { name: 'oneRate', title: 'one organisation', unit: 'users/s' },
    ],
  },
  {
    name: 'organisations-firestore',
    title: 'export of many organisations, Firestore emulator',
    compared: manyAgainstOne,
    scenario: organisations('firestore'),
    figures: [
      ratioFigure('manyRatio', 'of one organisation', { least: 0.4 }),
      { name: 'manyRate', title: '1,000 organisations', unit: 'users/s' },
      { name: 'oneRate', title: 'one organisation', unit: 'users/s' },
    ],
  },
];
