import type { AuditEvent } from '../../shared/audit/auditEvent.ts';
import { readAuditEvents } from '../../shared/audit/file/readEvents.ts';
import { type Output, parseSpan, type RunList, UsageError } from '../command.ts';
import { embeddedDirectory } from './embedded.ts';

/** Runs `identity audit`. */
export const auditList: RunList = ({ location, options: { since = '24h' }, now }) => {
  const directory = embeddedDirectory(location, 'has no audit.ndjson: use the log bucket of Cloud Logging');
  const spanMs = parseSpan(since);
  if (spanMs === undefined) throw new UsageError(`invalid --since ${since}: specify a span such as 30d, 12h or 45m`);
  return { name: 'events', rows: toRows(directory, new Date(now.getTime() - spanMs)) };
};

async function* toRows(directory: string, since: Date): AsyncGenerator<Output> {
  const damaged = new Map<string, number>();
  const onDamaged = (path: string) => void damaged.set(path, (damaged.get(path) ?? 0) + 1);
  for await (const event of readAuditEvents(directory, since, onDamaged)) yield { json: event, text: row(event) };
  for (const [path, lines] of damaged) process.stderr.write(`${path} has ${lines} damaged lines, which are skipped\n`);
}

function row({
  time,
  event,
  outcome,
  userId,
  account,
  remote,
  target,
  orgIds,
  orgCount,
  repeated,
}: AuditEvent): string {
  const organisations = orgCount === undefined ? (orgIds ?? []) : [...(orgIds ?? []), `… (${orgCount})`];
  const cells = [time, event, outcome, userId ?? account, remote, target, organisations.join(',')];
  const text = cells.map((cell) => printable(cell ?? '') || '-').join('\t');
  return repeated === undefined ? text : `${text}\t${repeated} more`;
}

/** Replaces control characters, which callers can put into ids, and which would reach the terminal. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}
