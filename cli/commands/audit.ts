import type { AuditEvent } from '../../shared/audit/auditEvent.ts';
import { readAuditEvents } from '../../shared/audit/file/readEvents.ts';
import type { Output, RunList } from '../command.ts';
import { printable } from '../printable.ts';
import { parseSpan } from '../spans.ts';
import { embeddedDirectory } from './embedded.ts';

/** Runs `identity audit`. */
export const auditList: RunList = ({ location, options: { since = '24h' }, now }) => {
  const directory = embeddedDirectory(location, 'has no audit.ndjson: use the log bucket of Cloud Logging');
  const damaged = new Map<string, number>();
  const rows = toRows(directory, new Date(now.getTime() - parseSpan(since)), damaged);
  return { name: 'events', rows, ending: () => (damaged.size === 0 ? 'done' : 'listed') };
};

/** @param damaged gets the number of damaged lines by the paths of their files */
async function* toRows(directory: string, since: Date, damaged: Map<string, number>): AsyncGenerator<Output> {
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
