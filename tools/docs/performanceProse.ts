import { table } from './markdown.ts';

type Median = (measure: string, figure: string) => number;

const introduction = `\`npm run bench\` measures what this document shows. Each round measures the things that are compared one after the other, so that both meet the same state of the machine; a figure is the median of all rounds, its spread their least and most.
A round below five seconds is repeated five times, a longer one three times.

\`npm run bench\` takes about ten minutes with 100,000 users, \`npm run bench -- --only removals\` less than one. \`npm run bench:million\` measures memory and cost with 1,000,000 users.
With \`-- --write\`, the figures go to \`bench/results/\`, and \`npm run docs\` makes this document of them.

The benchmark exits with 1 if a ratio misses its goal, and names it. Absolute figures depend on the machine: they stand beside their goals, and fail nothing.
On a shared machine, run it as \`chrt -r 10 npm run bench\`, so that other processes do not take part.`;

const figures = `A ratio without a unit compares two things of one round.
Firestore is its emulator: its figures say what the service costs beside raw calls of the same emulator, and nothing about Cloud Firestore.
The machine is virtual, and its processors and disk vary by a quarter from one hour to the next: removals over 32 connections reached between 3,700 and 7,200 a second on the same code. The load average stands [below](#machine-and-versions).
Removals beside bulk work are due at fixed times. A commit waits longer while the other thread moves the log into the database on a slow disk.`;

const accepted = `These goals are missed for a known reason. The benchmark guards what is accepted instead, so that it still fails when a figure becomes worse.`;

const tried = `Each was measured as a prototype against the version of its day.

- **A worker thread that writes through a connection of its own** beside imports. SQLite has one writer, and the threads poll for its lock: removals took longer.
- **\`WITHOUT ROWID\`**: 13 % slower, and half as many bytes again written to disk.
- **Asynchronous fsync** of single commits: slower than one fsync for up to 64 removals.
- **Commits of more than 1,000 records**: no gain that pays for the removals that wait meanwhile ([decision 21](decisions/0021-turns-of-the-embedded-database.md)).
- **Savepoints around bulk commits**: SQLite copies every page that they change, and wrote 2,915 MB instead of 1,920 MB.
- **A file of inspected records** that the second pass of an import reads instead of the export file: 7.87 s of processors' time instead of 7.89 s (medians of three interleaved imports of 100,000 users), and 70 MB more written. Writing and parsing the records again costs what checking them again costs.
- **A V8 compile cache in the functions' archives**: 365 ms of processors' time until the first response instead of 410 ms. It serves one exact version of V8, which Google updates without notice, and the archive would no longer be the same bytes on every machine, so that each deployment would replace all functions.
- **Firestore's administration client left out of the functions**: 412 ms instead of 411 ms. What it loads, the other client loads too. The document model of \`@google-cloud/firestore\` was left out instead: the archives are a third smaller, and a start takes 20 to 30 ms less.
- **Moving the log into the database after 8 MB** instead of 32 MB: 576 MB written instead of 491 MB, and removals beside an import wait as long.
- **A low priority for the thread that moves the log**: where both processors are busy, it does not end, and commits wait for it: p99 of 840 ms.
- **Pages of 8 KiB** instead of 4 KiB: 538 MB written instead of 487 MB, at the same speed.`;

/** Two runs one after the other, of the versions before and after decision 21, on the machine below. */
const before = { read: 4.5, inspect: 18.4, rows: 28.9, import: 86.9, again: 48.7, export: 5.2 } as const;
const after = { read: 3.6, inspect: 17.7, rows: 15.0, import: 65.3, again: 49.8, export: 4.7 } as const;

function time(median: Median): string {
  const now = {
    read: median('import-steps', 'readCpu'),
    inspect: median('import-steps', 'inspectCpu'),
    rows: median('transfer-cost', 'rawWriteCpu'),
    import: median('transfer-cost', 'importCpu'),
    again: median('transfer-cost', 'againCpu'),
    export: median('transfer-cost', 'exportCpu'),
  };
  const row = (title: string, value: (costs: Record<keyof typeof before, number>) => number) => [
    title,
    value(before).toFixed(1),
    value(after).toFixed(1),
    value(now).toFixed(1),
  ];
  return `Microseconds of all processors for each user, on the embedded store, before and after [decision 21](decisions/0021-turns-of-the-embedded-database.md).
The first two columns are of two runs one after the other. The last one is of the figures above; its machine had more other work, which costs each user more.

${table(
  ['import of 100,000 users', 'before (us)', 'after (us)', 'figures above (us)'],
  [
    row('first pass: parse the file', ({ read }) => read),
    row('first pass: inspect the records', ({ inspect, read }) => inspect - read),
    row('rows and claims, as the raw loop inserts them', ({ rows }) => rows),
    row('second pass, plan, encryption, commits', (costs) => costs.import - costs.inspect - costs.rows),
    row('together', (costs) => costs.import),
    row('the same file again', ({ again }) => again),
    row('export with secrets', (costs) => costs.export),
  ],
)}

Rows in the order of their ids, larger commits and fewer moves of the log halved the time of the inserts: 490 MB were written instead of 1,920 MB. What remains is mostly parsing, checking and planning: an import does it twice, since nothing is written before all of the file is valid.`;
}

/** The prose of the document of the measurements. */
export const performanceProse = { introduction, figures, accepted, tried, time };
