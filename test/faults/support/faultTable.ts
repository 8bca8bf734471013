/** The component with the fault. */
export type Place = 'SQLite' | 'Firestore' | 'Cloud Storage';

/** A kind of fault in the tests of this folder, and its proven outcome. */
export interface FaultRow {
  readonly fault: string;
  readonly places: readonly Place[];
  readonly outcome: string;
}

const stores = ['SQLite', 'Firestore'] as const;
const bucket = ['Cloud Storage'] as const;

const converges = 'no invariant is ever broken; resent, the import ends in the state of an undisturbed one';
const noError = 'the first import returns 200, and all its records exist';
const wholeOrNone = 'the export fails or its connection breaks, never truncated unnoticed; repeated, it is complete';
const refused = '400 before the first write, and the database is unchanged';

const row = (places: readonly Place[], fault: string, outcome: string): FaultRow => ({ fault, places, outcome });

/** Every tested fault: the tests take their names from here, and `npm run test:faults` prints the figures of a run. */
export const faultTable = {
  'commit conflicts': row(
    stores,
    'every n-th commit succeeds, but is reported as a conflict, like one that was sent twice',
    noError,
  ),
  'transaction fails': row(stores, 'every n-th transaction fails', converges),
  'transaction is delayed': row(stores, 'every n-th transaction is delayed', noError),
  'transaction is lost': row(stores, 'every n-th transaction succeeds, but is reported as failed', converges),
  'getMany fails': row(stores, 'every n-th read fails', converges),
  'getMany is delayed': row(stores, 'every n-th read is delayed', noError),
  'one commit of several': row(
    stores,
    'one commit of several in flight fails, is delayed, throttled or answered late, while the others go through; the timeout, a disconnection or a revoked token ends the call at a random moment',
    `every record that any response calls stored is in the database; ${converges}`,
  ),
  'snapshot fails': row(stores, 'every n-th snapshot fails', wholeOrNone),
  'snapshot is delayed': row(stores, 'every n-th snapshot is delayed', wholeOrNone),
  'scan fails': row(stores, 'every n-th part of a scan fails', wholeOrNone),
  'scan is delayed': row(stores, 'every n-th part of a scan is delayed', wholeOrNone),
  'write fails': row(
    bucket,
    'every n-th write of an object fails before, or half-way through',
    '503 and no object; repeated, the export is complete',
  ),
  'write is lost': row(
    bucket,
    'every n-th write of an object succeeds, but is reported as failed',
    '503, then 409 for the same name; the object is complete and proves itself',
  ),
  'write is delayed': row(bucket, 'every n-th write of an object is delayed', '200'),
  'pin fails': row(bucket, 'every n-th lookup of an object fails', converges),
  'read fails': row(bucket, 'every n-th piece of an object that is read fails', converges),
  'read is delayed': row(bucket, 'every n-th piece of an object that is read is delayed', noError),
  killed: row(stores, 'kill -9 of the process at a random point of an import', converges),
  locked: row(['SQLite'], 'another process keeps the database locked for longer than the service waits', converges),
  stopped: row(['Firestore'], 'the database is stopped (SIGSTOP) in the middle of an import, and resumes', noError),
  unreachable: row(
    ['Firestore'],
    'all connections to the database are cut in the middle of an import, and new ones rejected until its timeout',
    `504 with the progress; ${converges}`,
  ),
  'unreachable for a moment': row(
    ['Firestore'],
    'all connections to the database are cut in the middle of an import, and new ones rejected for a moment',
    noError,
  ),
  'throttled during an import': row(
    ['Firestore'],
    'the database rejects calls in the middle of an import with RESOURCE_EXHAUSTED, each some 20 times',
    noError,
  ),
  'throttled during an export': row(
    ['Firestore'],
    'the database rejects all queries of an export with RESOURCE_EXHAUSTED, each some 20 times',
    'the export is complete',
  ),
  'throttled during a removal': row(
    ['Firestore'],
    "the database rejects a removal's first call with RESOURCE_EXHAUSTED 20 times",
    '200; the factor is removed',
  ),
  'throttled to the end': row(
    ['Firestore'],
    'the database rejects all calls with RESOURCE_EXHAUSTED from the middle of an import to its timeout',
    `504 with the progress; ${converges}`,
  ),
  'upload is cut': row(bucket, 'the connection breaks at a random byte of an upload', '200; the object is complete'),
  'download is cut': row(bucket, 'the connection breaks at a random byte of a download', noError),
  'object is replaced': row(
    bucket,
    'the object is replaced in the middle of an import from it',
    '409 with the advice to retry; no invariant is broken, and no record of the other object is imported',
  ),
  'same file twice': row(
    stores,
    'the same file is imported twice at once',
    'both succeed without errors, in the state of one import',
  ),
  'two files': row(
    stores,
    'two files that differ in many records are imported at once',
    'every record is one of the two, and the response to the other file reports a conflict',
  ),
  'overwrite at once': row(
    stores,
    'a file is imported while a second one overwrites its records',
    'the second file is stored as a whole, and the first one runs before it or reports conflicts after it',
  ),
  'export while others write': row(
    stores,
    'others write between any two reads of an export',
    "every export shows one moment: each grant's user is there, and what changes together agrees",
  ),
  'file is cut': row(stores, 'an export file is truncated, at every byte', refused),
  'file is changed': row(
    stores,
    'an export file is edited, loses or gains records, is mixed up or joined with another',
    `${refused}; the response names the count or digest that differs`,
  ),
  'random steps': row(
    stores,
    'random imports, removals, commands and exports; imports die, or their client disconnects, at any commit',
    'after each step the whole database is that of a model of the specification',
  ),
  'response to a read is lost': row(
    ['Firestore'],
    "the response to a decision's first read is lost, or the decision never ends",
    'no lock is left, and others write at once',
  ),
  'response to a commit is lost': row(
    ['Firestore'],
    'the response to a commit is lost, or is an error although the commit succeeded',
    'the decision is made once, and reported as made',
  ),
  'user is deleted': row(
    ['SQLite'],
    'a service user is deleted while it gets tokens, memberships, grants and keys',
    'nothing is left that refers to the user',
  ),
  'repeated records': row(
    ['SQLite'],
    'a file has several records with one id, in one batch or in several',
    'the first stands, and the others are reported, however often the file is sent',
  ),
  'disk is full': row(['SQLite'], 'the database file cannot grow any further', `500; ${converges}`),
  'several processes': row(
    ['SQLite'],
    'three processes change one document of a database file at once, 100 times each',
    'no change is lost',
  ),
  'snapshot ends': row(
    ['SQLite'],
    'others write more while an export reads than the write-ahead log may hold',
    'the export fails, never truncated unnoticed; the writes continue',
  ),
} as const satisfies Record<string, FaultRow>;

/** The name of a fault in the table. */
export type FaultName = keyof typeof faultTable;
