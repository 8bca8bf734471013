import type { AuditEvent } from '../../shared/audit/auditEvent.ts';
import { defineInstanceCommand, optional, type Row, type Surroundings } from '../command.ts';
import { embeddedDirectory } from '../instanceLocation.ts';
import { counted, numberText } from '../texts.ts';
import { DAY_MS } from '../values.ts';

export const audit = defineInstanceCommand({
  name: 'audit',
  summary: 'list the audited calls of a self-hosted instance: exports, imports, removals and commands',
  arguments: [],
  options: { since: optional('DURATION', 'how far to go back; by default 24h') },
  examples: ['audit --since 7d --data ./north'],
  run: async ({ location, options: { since }, now, stderr }) => {
    const directory = embeddedDirectory(location, 'has no audit.ndjson: use the log bucket of Cloud Logging');
    const damaged = new Map<string, number>();
    const from = new Date(now.getTime() - (since?.milliseconds ?? DAY_MS));
    const rows = readRows(directory, from, damaged, stderr);
    return { name: 'events', heads, rows, exitStatus: () => (damaged.size === 0 ? 'done' : 'listed') };
  },
});

/** @param damaged gets the number of damaged lines by the paths of their files */
async function* readRows(
  directory: string,
  since: Date,
  damaged: Map<string, number>,
  stderr: Surroundings['stderr'],
): AsyncGenerator<Row> {
  const { readAuditEvents } = await import('../../shared/audit/file/readTrail.ts');
  const onDamaged = (path: string) => void damaged.set(path, (damaged.get(path) ?? 0) + 1);
  for await (const event of readAuditEvents(directory, since, onDamaged)) yield { json: event, cells: cells(event) };
  for (const [path, lines] of damaged) stderr.write(`${path} has ${counted(lines, 'damaged line')}, skipped\n`);
}

const heads = ['time', 'event', 'outcome', 'user', 'address', 'target', 'organisations', 'repeated'];

function cells(event: AuditEvent): string[] {
  const { orgIds = [], orgCount, repeated } = event;
  const organisations = orgCount === undefined ? orgIds : [...orgIds, `… (${numberText(orgCount)})`];
  const { time, event: name, outcome, userId, account, remote, target } = event;
  const known = [time, name, outcome, userId ?? account, remote, target, organisations.join(',')];
  return [...known.map((cell) => cell || '-'), ...(repeated === undefined ? [] : [`${numberText(repeated)} more`])];
}
