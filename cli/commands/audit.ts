import { statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { ReadEvent } from '../../shared/audit/databaseTrail.ts';
import { DAY_MS } from '../../shared/clock.ts';
import { instanceReplaced } from '../../shared/errors/commandErrors.ts';
import { databaseFile } from '../../shared/store/openStore.ts';
import type { Trail } from '../../shared/store/store.ts';
import { embeddedDirectory } from '../places/instanceLocation.ts';
import { defineInstanceCommand, flag, optional, type Row, type Surroundings, usageError } from '../terminal/command.ts';
import { numberText } from '../terminal/numberTexts.ts';

const POLL_MS = 500;

export const auditCommand = defineInstanceCommand({
  name: 'audit',
  summary: 'list the audited calls of a self-hosted instance',
  details: 'These are exports, imports, removals and commands.',
  arguments: [],
  options: {
    since: optional('DURATION', 'how far to go back; by default 24h'),
    after: optional('CURSOR', 'list the events after a cursor (see --json); 0 lists all'),
    follow: flag('print further events as they are recorded, until a signal'),
  },
  examples: ['audit --since 7d --data ./north', 'audit --follow --json --after 0 --data ./north'],
  run: async ({ store: { trail }, location, options: { since, after, follow }, now, signal, stderr }) => {
    const directory = embeddedDirectory(location, 'has its audit trail in the log bucket of Cloud Logging');
    if (trail === undefined) throw new Error('an embedded database has a trail');
    if (since !== undefined && after !== undefined) throw usageError('--since and --after are mutually exclusive');
    if (after !== undefined && BigInt(after) > BigInt(trail.newest()))
      throw usageError(`--after ${after} is later than every event of this instance: specify --since instead`);
    let damaged = 0;
    const onDamaged = (cursor: string) => {
      damaged++;
      stderr.write(`event ${cursor} is damaged, skipped\n`);
    };
    const from = new Date(now.getTime() - (since?.milliseconds ?? DAY_MS));
    const span: EventRange = { trail, after, from, onDamaged };
    const rows = follow ? followEvents(span, databaseFile(directory), signal) : listEvents(span);
    const exitStatus = () => (damaged === 0 ? 'done' : 'listed');
    return { name: 'events', heads, rows, isEndless: follow, exitStatus };
  },
});

interface EventRange {
  readonly trail: Trail;
  readonly after: string | undefined;
  /** The start of the range without a cursor. */
  readonly from: Date;
  readonly onDamaged: (cursor: string) => void;
}

async function* listEvents({ trail, after, from, onDamaged }: EventRange): AsyncGenerator<Row> {
  const { cursorBefore, readEvents } = await import('../../shared/audit/databaseTrail.ts');
  for (const event of readEvents(trail, after ?? cursorBefore(from), onDamaged))
    if (after !== undefined || Date.parse(event.time) >= from.getTime()) yield toRow(event);
}

/**
 * Yields every event at least once. The cursor identifies the last yielded event, because times are not unique.
 * @param file the database; if it is replaced, the open trail gets no further events
 */
async function* followEvents(
  { trail, after, from, onDamaged }: EventRange,
  file: string,
  signal: Surroundings['signal'],
) {
  const inode = () => statSync(file, { throwIfNoEntry: false })?.ino;
  const opened = inode();
  const { cursorBefore, readEvents } = await import('../../shared/audit/databaseTrail.ts');
  let last = after ?? cursorBefore(from);
  const skip = (cursor: string) => {
    last = cursor;
    onDamaged(cursor);
  };
  while (!signal.aborted) {
    for (const event of readEvents(trail, last, skip)) {
      last = event.cursor;
      yield toRow(event);
    }
    if (inode() !== opened) throw instanceReplaced({ file });
    await setTimeout(POLL_MS, undefined, { signal }).catch(() => {});
  }
}

const heads = ['time', 'event', 'outcome', 'user', 'address', 'target', 'organisations'];

function toRow(json: ReadEvent): Row {
  const { time, event: name, outcome, userId, account, remote, target, orgIds = [], orgCount, trial } = json;
  const organisations = orgIds.map(cellText).concat(orgCount === undefined ? [] : `… (${numberText(orgCount)})`);
  const known = [time, name, outcome, userId ?? account, remote, target].map((text) => (text ? cellText(text) : '-'));
  const [at = '', called = '', ...others] = known;
  const marked = trial === true ? `${called} (trial)` : called;
  return { json, cells: [at, marked, ...others, organisations.join(',') || '-'] };
}

/** Quotes an id that could be mistaken for several ids, for none or for the next cell, because callers choose ids. */
function cellText(text: string): string {
  return /^(?!-$)[\w./:@-]+$/.test(text) ? text : JSON.stringify(text);
}
