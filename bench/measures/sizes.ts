import { type Figure, type Measure, ratioFigure } from '../measure.ts';
import { documents, scale } from '../scenarios/transfers.ts';

const perUser = (name: string, title: string, most: number): Figure => ({
  name,
  title: `${title} per user`,
  unit: 'documents',
  goal: { most },
  isGuarded: true,
});

const documentFigures = [
  perUser('importWritten', 'import: written', 2.6),
  perUser('importRead', 'import: read', 0.6),
  perUser('againWritten', 'again: written', 0),
  perUser('againRead', 'again: read', 2.2),
  perUser('exportWritten', 'export: written', 0),
  perUser('exportRead', 'export: read', 1.6),
];

const counted =
  "the store's documents that an import, the same one again and an export of 10,000 users write and read, to a hundredth: the organisation is a document too";
const heap = 'with 10,000 users the heap has not yet grown to the size at which V8 keeps it';

/** The measures of what should not grow, or should not be more than needed. */
export const sizes: readonly Measure[] = [
  {
    name: 'memory',
    title: 'peak memory (RSS)',
    compared: 'an import and an export of all users, each in a process of its own, against those of 10,000 users',
    scenario: scale,
    figures: [
      ratioFigure(
        'importMemoryRatio',
        'import, of 10,000 users',
        { most: 1.15 },
        { bound: { most: 1.3 }, reason: heap },
      ),
      { name: 'importMemory', title: 'import', unit: 'MB', goal: { most: 300 } },
      ratioFigure(
        'exportMemoryRatio',
        'export, of 10,000 users',
        { most: 1.15 },
        { bound: { most: 1.3 }, reason: heap },
      ),
      { name: 'exportMemory', title: 'export', unit: 'MB', goal: { most: 300 } },
    ],
  },
  {
    name: 'cost',
    title: 'cost per user',
    compared: "all processors' time for each user, against that of 10,000 users",
    scenario: scale,
    figures: [
      ratioFigure('importCostRatio', 'import, of 10,000 users', { most: 1.1 }),
      { name: 'importCost', title: 'import', unit: 'us' },
      ratioFigure('exportCostRatio', 'export, of 10,000 users', { most: 1.1 }),
      { name: 'exportCost', title: 'export', unit: 'us' },
    ],
  },
  {
    name: 'documents-embedded',
    title: 'documents per user, embedded',
    compared: counted,
    scenario: documents('sqlite'),
    figures: documentFigures,
  },
  {
    name: 'documents-firestore',
    title: 'documents per user, Firestore emulator',
    compared: counted,
    scenario: documents('firestore'),
    figures: documentFigures,
  },
];
