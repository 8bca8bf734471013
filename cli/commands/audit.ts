import { statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { ReadEvent } from '../../shared/audit/databaseTrail.ts';
import { DAY_MS } from '../../shared/clock.ts';
import { defined } from '../../shared/defined.ts';
import { instanceReplaced } from '../../shared/errors/commandErrors.ts';
import { databaseFile } from '../../shared/store/openStore.ts';
import type { Trail } from '../../shared/store/store.ts';
import type { PastNames } from '../accounts/pastNames.ts';
import type { UserNames } from '../accounts/userNames.ts';
import { embeddedDirectory } from '../places/instanceLocation.ts';
import { defineInstanceCommand, flag, optional, type Row, type Surroundings, usageError } from '../terminal/command.ts';
import { numberText } from '../terminal/numberTexts.ts';

const POLL_MS = 500;

export const auditCommand = defineInstanceCommand({
  name: 'audit',
  summary: 'list the audited calls of a self-hosted instance',
  details: 'The list contains exports, imports, removals of OTP e-mail factors, and commands.',
  arguments: [],
  options: {
    since: optional('MOMENT', 'start of the list: an age such as 7d, or a date; by default 24h'),
    user: optional('USER', 'only calls that this user made, or that concern this user: an id or a user name'),
    operation: optional('OPERATION', 'only calls of this operation: export, import, otp-email or command'),
    after: optional('CURSOR', 'list the events after this cursor (--json prints cursors); 0 lists all events'),
    follow: flag('keep running and print new events, until SIGINT or SIGTERM'),
  },
  examples: [
    'audit --since 2026-11-24 --user 330000000000000201 --operation otp-email --data ./north',
    'audit --follow --json --after 0 --data ./north',
  ],
  run: async ({ store, location, options: { since, after, follow, user, operation }, now, signal, stderr }) => {
    const { trail } = store;
    const directory = embeddedDirectory(
      location,
      'has no audit trail of its own: read the log bucket of Cloud Logging',
    );
    if (trail === undefined) throw new Error('an embedded database has a trail');
    if (since !== undefined && after !== undefined) throw usageError('--since and --after are mutually exclusive');
    if (after !== undefined && BigInt(after) > BigInt(trail.newest()))
      throw usageError(`--after ${after} is later than every event of this instance: specify --since instead`);
    let damaged = 0;
    const onDamaged = (cursor: string) => {
      damaged++;
      stderr.write(`event ${cursor} is damaged, skipped\n`);
    };
    const from = since !== undefined && 'at' in since ? since.at : new Date(now.getTime() - (since?.ago ?? DAY_MS));
    const isListed = ({ event, userId, target, userName, targetName }: NamedEvent) =>
      (user === undefined || [userId, userName, target, targetName].includes(user)) &&
      (operation === undefined || isOfOperation(event, camelCase(operation)));
    const { UserNames: Names } = await import('../accounts/userNames.ts');
    const { PastNames: Past } = await import('../accounts/pastNames.ts');
    const names = { present: new Names(store), past: new Past(trail, namedIn) };
    const span: EventRange = { trail, after, from, isListed, names, onDamaged };
    const rows = follow ? followEvents(span, databaseFile(directory), signal) : listEvents(span);
    const exitStatus = () => (damaged === 0 ? 'done' : 'listed');
    return { name: 'events', heads, rows, isEndless: follow, exitStatus };
  },
});

interface EventRange {
  readonly trail: Trail;
  readonly after: string | undefined;
  /** The time from which events are listed. Ignored if `after` is set. */
  readonly from: Date;
  readonly isListed: (event: NamedEvent) => boolean;
  readonly names: EventNames;
  readonly onDamaged: (cursor: string) => void;
}

interface EventNames {
  readonly present: UserNames;
  readonly past: PastNames;
}

type NamedEvent = ReadEvent & { readonly userName?: string; readonly targetName?: string };

/**
 * Converts the name of an operation to camel case, such as `otp-email` to `otpEmail`, because the names of audit events
 * are in camel case.
 */
function camelCase(operation: string): string {
  return operation.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * True if an audit event belongs to an operation, or to a command whose name begins with the operation's name. For
 * example, `otpEmail.removed` and `command.otpEmailEnable` belong to the operation `otpEmail`.
 */
function isOfOperation(event: string, operation: string): boolean {
  return event.startsWith(`${operation}.`) || event.startsWith(`command.${operation}`);
}

async function* listEvents({ trail, after, from, isListed, names, onDamaged }: EventRange): AsyncGenerator<Row> {
  const { cursorBefore, readEvents } = await import('../../shared/audit/databaseTrail.ts');
  for (const read of readEvents(trail, after ?? cursorBefore(from), onDamaged)) {
    if (after === undefined && Date.parse(read.time) < from.getTime()) continue;
    const event = await withNames(read, names);
    if (isListed(event)) yield toRow(event);
  }
}

/**
 * Yields the selected events, then waits for new events and yields them. Continues after the last event's cursor
 * instead of its time, because several events can have the same time.
 * @param file the database's file
 * @throws Error if another file replaces the database's file: the opened audit trail would receive no more events
 */
async function* followEvents(
  { trail, after, from, isListed, names, onDamaged }: EventRange,
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
    for (const read of readEvents(trail, last, skip)) {
      last = read.cursor;
      const event = await withNames(read, names);
      if (isListed(event)) yield toRow(event);
    }
    if (inode() !== opened) throw instanceReplaced({ file });
    await setTimeout(POLL_MS, undefined, { signal }).catch(() => {});
  }
}

const heads = ['time', 'event', 'outcome', 'user', 'address', 'target', 'organisations'];

/**
 * Names of the audit events whose target is a user. If such an event has the outcome `ok`, the user existed at that
 * time.
 */
const eventsAboutUsers: ReadonlySet<string> = new Set([
  'otpEmail.removed',
  'command.memberAdd',
  'command.memberRemove',
  'command.otpEmailEnable',
  'command.patCreate',
  'command.serviceUserDelete',
  'command.userDelete',
  'command.userGrantRemove',
  'command.userLock',
  'command.userUnlock',
]);

const userTypes: ReadonlySet<string> = new Set(['human_user', 'machine_user']);

/** Returns undefined unless the event contains both the id and the name of a user. */
function namedIn({ event, outcome, type, target, name, ids }: ReadEvent): readonly [string, string] | undefined {
  if (event === 'command.serviceUserCreate' && outcome === 'ok' && target !== undefined && ids?.userId !== undefined)
    return [ids.userId, target];
  const isAboutUser = type === undefined ? eventsAboutUsers.has(event) : userTypes.has(type);
  return isAboutUser && target !== undefined && name !== undefined ? [target, name] : undefined;
}

/**
 * Adds the names of an event's caller and target: the current name of an existing user, or the last recorded name of a
 * deleted user.
 */
async function withNames(event: ReadEvent, { present, past }: EventNames): Promise<NamedEvent> {
  const nameOf = async (id: string | undefined, then?: string) =>
    id === undefined ? undefined : ((await present.find(id)) ?? then ?? past.find(id));
  const userName = await nameOf(event.userId);
  const targetName = event.type === undefined ? await nameOf(event.target, event.name) : event.name;
  return { ...event, ...defined({ userName, targetName }) };
}

function toRow(event: NamedEvent): Row {
  const { time, event: name, outcome, userId, userName, account, remote, target, targetName, trial } = event;
  const { orgIds = [], orgCount } = event;
  const named = (id: string | undefined, name: string | undefined, existed: boolean) => {
    if (id === undefined || (name === undefined && !existed)) return cell(id);
    return `${cell(id)} (${name === undefined ? 'deleted' : cellText(name)})`;
  };
  const organisations = orgIds.map(cellText).concat(orgCount === undefined ? [] : `… (${numberText(orgCount)})`);
  const marked = trial === true ? `${cell(name)} (trial)` : cell(name);
  const who = userId === undefined ? cell(account) : named(userId, userName, true);
  const isUser = outcome === 'ok' && eventsAboutUsers.has(name);
  const cells = [cell(time), marked, cell(outcome), who, cell(remote), named(target, targetName, isUser)];
  return { json: event, cells: [...cells, organisations.join(',') || '-'] };
}

function cell(text: string | undefined): string {
  return text ? cellText(text) : '-';
}

/**
 * Quotes a text that a reader could mistake for several ids, for an empty cell or for the next cell of the row. Callers
 * of the service can choose any text as an id.
 */
function cellText(text: string): string {
  return /^(?!-$)[\w./:@-]+$/.test(text) ? text : JSON.stringify(text);
}
