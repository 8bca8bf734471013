import { type Measure, ratioFigure } from '../measure.ts';
import { bucket } from '../scenarios/bucket.ts';
import { organisations, steps, transfers } from '../scenarios/transfers.ts';

// The imports and exports on each store, whose figures several measures show.
const embedded = transfers('sqlite');
const emulator = transfers('firestore');

const raw = 'an import of one organisation, against a loop that inserts';
const twice =
  'an import reads, checks and plans each record twice, since nothing is written before all of the file is valid';
const unchanged = 'both read, check and plan each record twice; unchanged ones save the writes and cost a look-up';
const standIn = 'the stand-in computes checksums and writes the object to the disk, on the cores that the export uses';
const zeroWrites = ratioFigure('againWritten', 'documents written per user', { most: 0 });

/** The measures of imports. */
export const imports: readonly Measure[] = [
  {
    name: 'import-embedded',
    title: 'import, embedded',
    compared: `${raw} the same rows and claims, 1,000 users a transaction, over the same connection`,
    scenario: embedded,
    figures: [
      ratioFigure('importRatio', 'of the raw loop', { least: 0.7 }, { bound: { least: 0.15 }, reason: twice }),
      { name: 'importRate', title: 'import', unit: 'users/s', goal: { least: 12_000 } },
      { name: 'rawWriteRate', title: 'raw loop', unit: 'users/s' },
    ],
  },
  {
    name: 'import-firestore',
    title: 'import, Firestore emulator',
    compared: `${raw} the same documents, 500 writes a commit, four commits in flight`,
    scenario: emulator,
    figures: [
      ratioFigure('importRatio', 'of the raw loop', { least: 0.6 }, { bound: { least: 0.45 }, reason: twice }),
      { name: 'importRate', title: 'import', unit: 'users/s', goal: { least: 9_000 } },
      { name: 'rawWriteRate', title: 'raw loop', unit: 'users/s' },
    ],
  },
  {
    name: 'again-embedded',
    title: 'the same file again, embedded',
    compared: 'an import of a file whose records all exist unchanged, against the import that created them',
    scenario: embedded,
    figures: [
      ratioFigure('againRatio', 'of the first import', { least: 1.5 }, { bound: { least: 1.1 }, reason: unchanged }),
      { name: 'againRate', title: 'import again', unit: 'users/s' },
      zeroWrites,
    ],
  },
  {
    name: 'again-firestore',
    title: 'the same file again, Firestore emulator',
    compared: 'as on the embedded store',
    scenario: emulator,
    figures: [
      ratioFigure('againRatio', 'of the first import', { least: 1.5 }, { bound: { least: 1.1 }, reason: unchanged }),
      { name: 'againRate', title: 'import again', unit: 'users/s' },
      zeroWrites,
    ],
  },
  {
    name: 'bucket',
    title: 'through a bucket',
    compared:
      'HTTP requests to `identity serve` with a bucket of the local stand-in, against a file in the request or response',
    scenario: bucket,
    figures: [
      ratioFigure('importRatio', 'import, of inline', { least: 0.8 }),
      ratioFigure('exportRatio', 'export, of inline', { least: 0.8 }, { bound: { least: 0.5 }, reason: standIn }),
    ],
  },
  {
    name: 'written-bytes',
    title: 'bytes written to disk',
    compared: "the writes of an importing process to disks, as the kernel counts them, against the database's size",
    scenario: embedded,
    figures: [
      ratioFigure('writtenRatio', "of the database's size", { most: 5 }),
      { name: 'writtenMegabytes', title: 'written', unit: 'MB' },
      { name: 'databaseMegabytes', title: 'database', unit: 'MB' },
    ],
  },
  {
    name: 'import-steps',
    title: "an import's first steps",
    compared:
      "all processors' time for each user, without a database: reading parses all records, inspecting checks them too",
    scenario: steps,
    figures: [
      { name: 'readCpu', title: 'read', unit: 'us' },
      { name: 'inspectCpu', title: 'inspect', unit: 'us' },
    ],
  },
  {
    name: 'transfer-cost',
    title: "processors' time per user, embedded",
    compared: "all processors' time for each user of imports and exports, and of the raw loops",
    scenario: embedded,
    figures: [
      { name: 'importCpu', title: 'import', unit: 'us' },
      { name: 'againCpu', title: 'import again', unit: 'us' },
      { name: 'rawWriteCpu', title: 'raw write', unit: 'us' },
      { name: 'exportCpu', title: 'export with secrets', unit: 'us' },
      { name: 'rawReadCpu', title: 'raw read', unit: 'us' },
    ],
  },
];

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
