import { table } from './markdown.ts';

type Median = (measure: string, figure: string) => number;

const introduction = `\`npm run bench\` measures what this document shows. Each round measures the things that are compared one after the other, so that both meet the same state of the machine; a figure is the median of all rounds, its spread their least and most.
A round below five seconds is repeated five times, a longer one three times.

\`npm run bench\` takes about ten minutes with 100,000 users, \`npm run bench -- --only removals\` less than one. \`npm run bench:million\` measures memory and cost with 1,000,000 users.
With \`-- --write\`, the figures go to \`bench/results/\`, and \`npm run docs\` makes this document of them.

The benchmark exits with 1 if a ratio misses its goal, and names it. Absolute figures depend on the machine: they stand beside their goals, and fail nothing.
The rows that begin with \`beside\` run this version and a base, which \`bench/base.ts\` names, in the same round, on records as people have them; a ratio above 1.1, or a rate below 0.9, of the base is a loss, and fails.
Sample people have hashes of four kinds, ids of four forms and names in many scripts, a quarter has metadata, a third a grant.

On a shared machine, run it as \`chrt -r 10 npm run bench\`, so that other processes do not take part.`;

const figures = `A ratio without a unit compares two things of one round.
Firestore is its emulator: its figures say what the service costs beside raw calls of the same emulator, and nothing about Cloud Firestore.
The machine is virtual, and its processors and disk vary by a quarter from one hour to the next: removals over 32 connections reached between 3,700 and 9,000 a second on almost the same code. The load average stands [below](#machine-and-versions).
Beside the base, an import through HTTP and its peak memory miss their goals by the objects they create: collecting them takes at least a sixth of the processors' time. Removals there miss theirs, and reach it where they are measured alone. Exports of one organisation miss theirs since the changes in the third and fourth row of [what changes cost](#where-the-time-goes); two commits of the audit trail, HTTP and the snapshot take about 2 ms of each.
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
- **Pages of 8 KiB** instead of 4 KiB: 538 MB written instead of 487 MB, at the same speed.
- **Seeking over sections** that later passes of an import skip: skipping a whole file takes 1.3 us a user, so that at most 3.4 us were saved.
- **Statements kept for the sections of an export**, or several empty sections in one turn: 0.2 and 0.07 ms of an export.
- **Memory-mapped reads**: 0.15 us a record.`;

const costs = `| change | import | the same file again | export of 1,000 users | now |
| --- | --- | --- | --- | --- |
| decide from the whole file, report what is unknown, convert values | 102 → 119 | 50 → 67 | 10.0 → 9.3 | cheaper since: one walk finds that a record is as exports write it |
| names that look alike, warnings of what an import adds to what existed | 119 → 134 | 67 → 76 | 9.3 → 9.7 | kept: each is a hole otherwise; nothing is created where there is nothing to say |
| secrets at rest, bounds of requests, commits of small changes together | 134 → 108 | 76 → 74 | 9.7 → 12.3 | kept |
| a heap of at most 512 MB, with a young generation of 16 MB | 108 → 127 | 74 → 93 | 12.3 → 14.7 | kept: the server takes 261 MB at most instead of 453 MB; fewer objects make it cheaper |
| all until the base: checkpoints of open records, fields that are filled in, notes of earlier calls | 127 → 131 | 93 → 97 | 14.7 → 14.3 | kept: 3 % |`;

function time(median: Median): string {
  const cost = {
    read: median('import-steps', 'readCpu'),
    inspect: median('import-steps', 'inspectCpu'),
    rows: median('transfer-cost', 'rawWriteCpu'),
    import: median('transfer-cost', 'importCpu'),
    again: median('transfer-cost', 'againCpu'),
    export: median('transfer-cost', 'exportCpu'),
  };
  const row = (title: string, value: number) => [title, value.toFixed(1)];
  return `Microseconds of all processors for each user, on the embedded store, of the figures above.

${table(
  ['import of 100,000 users', 'us'],
  [
    row('first pass: parse the file', cost.read),
    row('first pass: inspect the records', cost.inspect - cost.read),
    row('rows and claims, as the raw loop inserts them', cost.rows),
    row('later passes, plan, encryption, commits', cost.import - cost.inspect - cost.rows),
    row('together', cost.import),
    row('the same file again', cost.again),
    row('export with secrets', cost.export),
  ],
)}

Rows in the order of their ids, larger commits and fewer moves of the log once halved the time of the inserts ([decision 21](decisions/0021-turns-of-the-embedded-database.md)). What remains is mostly parsing, checking and planning: an import does it twice, since nothing is written before all of the file is valid.

What changes of two days cost, through HTTP: the least of two to five runs of 40,000 users at 17 commits, on two processors with much other work.

${costs}

Since then, exports encode each text by itself, sum hashes without large integers, and look up field types once for texts: 6.1 us of processors' time a user instead of 7.4 with secrets, 12.8 instead of 14.4 for 1,000 users, measured in turns.`;
}

/** The prose of the document of the measurements. */
export const performanceProse = { introduction, figures, accepted, tried, time };
