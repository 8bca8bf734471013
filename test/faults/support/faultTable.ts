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

/** Every tested fault: the tests take their names from here, and `npm run test:faults` prints the figures of a run. */
export const faultTable = {
  'commit conflicts': {
    fault: 'every n-th commit succeeds, but is reported as a conflict, like one that was sent twice',
    places: stores,
    outcome: noError,
  },
  'transaction fails': { fault: 'every n-th transaction fails', places: stores, outcome: converges },
  'transaction is delayed': { fault: 'every n-th transaction is delayed', places: stores, outcome: noError },
  'transaction is lost': {
    fault: 'every n-th transaction succeeds, but is reported as failed',
    places: stores,
    outcome: converges,
  },
  'getMany fails': { fault: 'every n-th read fails', places: stores, outcome: converges },
  'getMany is delayed': { fault: 'every n-th read is delayed', places: stores, outcome: noError },
  'one commit of several': {
    fault:
      'one commit of several in flight fails, is delayed, throttled or answered late, while the others go through; the timeout, a disconnection or a revoked token ends the call at a random moment',
    places: stores,
    outcome: `every record that any response calls stored is in the database; ${converges}`,
  },
  'snapshot fails': { fault: 'every n-th snapshot fails', places: stores, outcome: wholeOrNone },
  'snapshot is delayed': { fault: 'every n-th snapshot is delayed', places: stores, outcome: wholeOrNone },
  'scan fails': { fault: 'every n-th part of a scan fails', places: stores, outcome: wholeOrNone },
  'scan is delayed': { fault: 'every n-th part of a scan is delayed', places: stores, outcome: wholeOrNone },
  'write fails': {
    fault: 'every n-th write of an object fails before, or half-way through',
    places: bucket,
    outcome: '503 and no object; repeated, the export is complete',
  },
  'write is lost': {
    fault: 'every n-th write of an object succeeds, but is reported as failed',
    places: bucket,
    outcome: '503, then 409 for the same name; the object is complete and proves itself',
  },
  'write is delayed': { fault: 'every n-th write of an object is delayed', places: bucket, outcome: '200' },
  'pin fails': { fault: 'every n-th lookup of an object fails', places: bucket, outcome: converges },
  'read fails': { fault: 'every n-th piece of an object that is read fails', places: bucket, outcome: converges },
  'read is delayed': {
    fault: 'every n-th piece of an object that is read is delayed',
    places: bucket,
    outcome: noError,
  },
  killed: { fault: 'kill -9 of the process at a random point of an import', places: stores, outcome: converges },
  locked: {
    fault: 'another process keeps the database locked for longer than the service waits',
    places: ['SQLite'],
    outcome: converges,
  },
  stopped: {
    fault: 'the database is stopped (SIGSTOP) in the middle of an import, and resumes',
    places: ['Firestore'],
    outcome: noError,
  },
  unreachable: {
    fault:
      'all connections to the database are cut in the middle of an import, and new ones rejected until its timeout',
    places: ['Firestore'],
    outcome: `504 with the progress; ${converges}`,
  },
  'unreachable for a moment': {
    fault: 'all connections to the database are cut in the middle of an import, and new ones rejected for a moment',
    places: ['Firestore'],
    outcome: noError,
  },
  'throttled during an import': {
    fault: 'the database rejects calls in the middle of an import with RESOURCE_EXHAUSTED, each some 20 times',
    places: ['Firestore'],
    outcome: noError,
  },
  'throttled during an export': {
    fault: 'the database rejects all queries of an export with RESOURCE_EXHAUSTED, each some 20 times',
    places: ['Firestore'],
    outcome: 'the export is complete',
  },
  'throttled during a removal': {
    fault: "the database rejects a removal's first call with RESOURCE_EXHAUSTED 20 times",
    places: ['Firestore'],
    outcome: '200; the factor is removed',
  },
  'throttled to the end': {
    fault: 'the database rejects all calls with RESOURCE_EXHAUSTED from the middle of an import to its timeout',
    places: ['Firestore'],
    outcome: `504 with the progress; ${converges}`,
  },
  'upload is cut': {
    fault: 'the connection breaks at a random byte of an upload',
    places: bucket,
    outcome: '200; the object is complete',
  },
  'download is cut': {
    fault: 'the connection breaks at a random byte of a download',
    places: bucket,
    outcome: noError,
  },
  'object is replaced': {
    fault: 'the object is replaced in the middle of an import from it',
    places: bucket,
    outcome: '409 with the advice to retry; no invariant is broken, and no record of the other object is imported',
  },
  'same file twice': {
    fault: 'the same file is imported twice at once',
    places: stores,
    outcome: 'both succeed without errors, in the state of one import',
  },
  'two files': {
    fault: 'two files that differ in many records are imported at once',
    places: stores,
    outcome: 'every record is one of the two, and the response to the other file reports a conflict',
  },
  'overwrite at once': {
    fault: 'a file is imported while a second one overwrites its records',
    places: stores,
    outcome: 'the second file is stored as a whole, and the first one runs before it or reports conflicts after it',
  },
  'export while others write': {
    fault: 'others write between any two reads of an export',
    places: stores,
    outcome: "every export shows one moment: each grant's user is there, and what changes together agrees",
  },
  'file is cut': { fault: 'an export file is truncated, at every byte', places: stores, outcome: refused },
  'file is changed': {
    fault: 'an export file is edited, loses or gains records, is mixed up or joined with another',
    places: stores,
    outcome: `${refused}; the response names the count or digest that differs`,
  },
  'random steps': {
    fault: 'random imports, removals, commands and exports; imports die, or their client disconnects, at any commit',
    places: stores,
    outcome: 'after each step the whole database is that of a model of the specification',
  },
  'response to a read is lost': {
    fault: "the response to a decision's first read is lost, or the decision never ends",
    places: ['Firestore'],
    outcome: 'no lock is left, and others write at once',
  },
  'response to a commit is lost': {
    fault: 'the response to a commit is lost, or is an error although the commit succeeded',
    places: ['Firestore'],
    outcome: 'the decision is made once, and reported as made',
  },
  'user is deleted': {
    fault: 'a service user is deleted while it gets tokens, memberships, grants and keys',
    places: ['SQLite'],
    outcome: 'nothing is left that refers to the user',
  },
  'repeated records': {
    fault: 'a file has several records with one id, in one batch or in several',
    places: ['SQLite'],
    outcome: 'the first stands, and the others are reported, however often the file is sent',
  },
  'disk is full': {
    fault: 'the database file cannot grow any further',
    places: ['SQLite'],
    outcome: `500; ${converges}`,
  },
  'several processes': {
    fault: 'three processes change one document of a database file at once, 100 times each',
    places: ['SQLite'],
    outcome: 'no change is lost',
  },
  'snapshot ends': {
    fault: 'others write more while an export reads than the write-ahead log may hold',
    places: ['SQLite'],
    outcome: 'the export fails, never truncated unnoticed; the writes continue',
  },
} as const satisfies Record<string, FaultRow>;

/** The name of a fault in the table. */
export type FaultName = keyof typeof faultTable;
