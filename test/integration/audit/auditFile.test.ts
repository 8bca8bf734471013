import { appendFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditEvent } from '../../../shared/audit/auditEvent.ts';
import { AuditFile, type AuditFileOptions } from '../../../shared/audit/file/auditFile.ts';
import { readAuditEvents } from '../../../shared/audit/file/readTrail.ts';
import { startProgram } from '../../../tools/program.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const program = fileURLToPath(new URL('./auditFile/appendForever.ts', import.meta.url));
const DAY_MS = 86_400_000;

async function newDirectory(): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  return path;
}

function openTrail(directory: string, options?: AuditFileOptions): AuditFile {
  const trail = new AuditFile(directory, options);
  onTestFinished(() => trail.close());
  return trail;
}

const event = (requestId: string, time = new Date()): AuditEvent => ({
  time: time.toISOString(),
  event: 'export.started',
  outcome: 'started',
  requestId,
});

async function read(directory: string, since = new Date(0)) {
  const ids: (string | undefined)[] = [];
  let damaged = 0;
  const onDamaged = () => void damaged++;
  for await (const { requestId } of readAuditEvents(directory, since, onDamaged)) ids.push(requestId);
  return { ids, damaged };
}

const trailFiles = async (directory: string) => (await readdir(directory)).filter((name) => name.endsWith('.ndjson'));

describe('an audit trail in files', () => {
  it('holds each event as one line, in a file that only its owner can read', async () => {
    const directory = await newDirectory();
    const trail = openTrail(directory);
    await trail.append(event('a'));
    await trail.append({ ...event('b'), target: 'line\nbreak' });
    const text = await readFile(join(directory, 'audit.ndjson'), 'utf8');
    expect(text.match(/\n/g)).toHaveLength(2);
    expect(JSON.parse(text.split('\n')[1] ?? '')).toMatchObject({ requestId: 'b', target: 'line\nbreak' });
    for (const name of await readdir(directory)) expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
  });

  it('is read from a moment on', async () => {
    const directory = await newDirectory();
    const trail = openTrail(directory);
    await trail.append(event('earlier', new Date(Date.now() - DAY_MS)));
    await trail.append(event('later'));
    expect(await read(directory, new Date(Date.now() - DAY_MS / 2))).toEqual({ ids: ['later'], damaged: 0 });
  });

  it('starts a new line after a torn one, which the reader skips and counts', async () => {
    const directory = await newDirectory();
    const file = join(directory, 'audit.ndjson');
    const first = openTrail(directory);
    await first.append(event('a'));
    await first.append(event('torn'));
    await truncate(file, (await stat(file)).size - 5);
    expect(await read(directory)).toEqual({ ids: ['a'], damaged: 1 });
    await first.append(event('b'));
    await openTrail(directory).append(event('c'));
    expect(await read(directory)).toEqual({ ids: ['a', 'b', 'c'], damaged: 1 });
  });

  it('is rotated by size, and by the age of its first event, and loses nothing', async () => {
    const directory = await newDirectory();
    const trail = openTrail(directory, { maxBytes: 600 });
    const ids = Array.from({ length: 30 }, (_, index) => String(index));
    for (const id of ids) await trail.append(event(id));
    expect((await trailFiles(directory)).length).toBeGreaterThan(3);
    expect(await read(directory)).toEqual({ ids, damaged: 0 });

    const quiet = await newDirectory();
    await openTrail(quiet).append(event('old', new Date(Date.now() - 31 * DAY_MS)));
    await openTrail(quiet).append(event('new'));
    expect(await trailFiles(quiet)).toHaveLength(2);
    expect(await read(quiet)).toEqual({ ids: ['old', 'new'], damaged: 0 });
  });

  it('deletes rotated files after its time only, and never without one, as in a command', async () => {
    const directory = await newDirectory();
    const rotated = (days: number) =>
      `audit-${new Date(Date.now() - days * DAY_MS).toISOString().replaceAll(':', '-')}.ndjson`;
    const [expired, kept] = [rotated(401), rotated(399)];
    for (const name of [expired, kept, 'audit-notes.ndjson']) await writeFile(join(directory, name), '');
    const rotate = async (options: AuditFileOptions) => {
      const trail = openTrail(directory, { maxBytes: 1, ...options });
      await trail.append(event('a'));
      await trail.append(event('b'));
    };
    await rotate({});
    expect(await readdir(directory)).toEqual(expect.arrayContaining([expired, kept]));
    await rotate({ retentionMs: 400 * DAY_MS });
    const left = await readdir(directory);
    expect(left).toEqual(expect.arrayContaining([kept, 'audit-notes.ndjson']));
    expect(left).not.toContain(expired);
  });

  it('goes on in a new file when another process has rotated or deleted the present one', async () => {
    const directory = await newDirectory();
    const [one, other] = [openTrail(directory), openTrail(directory, { maxBytes: 1 })];
    await one.append(event('a'));
    await other.append(event('b'));
    await one.append(event('c'));
    expect(await read(directory)).toEqual({ ids: ['a', 'b', 'c'], damaged: 0 });
    await rm(join(directory, 'audit.ndjson'));
    await one.append(event('d'));
    expect((await read(directory)).ids).toEqual(['a', 'd']);
  });

  it('that cannot be written is an error of its own, and works again once it can', async () => {
    const directory = await newDirectory();
    const trail = openTrail(directory);
    await mkdir(join(directory, 'audit.ndjson'));
    const failures = await Promise.allSettled([trail.append(event('a')), trail.append(event('b'))]);
    for (const failure of failures)
      expect(failure).toMatchObject({ status: 'rejected', reason: { reason: 'AUDIT_UNWRITABLE', httpStatus: 503 } });
    await rm(join(directory, 'audit.ndjson'), { recursive: true });
    await trail.append(event('c'));
    expect(await read(directory)).toEqual({ ids: ['c'], damaged: 0 });
    const gone = openTrail(join(directory, 'gone'));
    await expect(gone.append(event('a'))).rejects.toMatchObject({ reason: 'AUDIT_UNWRITABLE' });
  });

  it('counts as damaged what is no event, and reads the rest', async () => {
    const directory = await newDirectory();
    await openTrail(directory).append(event('a'));
    await appendFile(join(directory, 'audit.ndjson'), 'null\n{}\n"text"\n\0\0\0\n{"time":\n');
    await openTrail(directory).append(event('b'));
    expect(await read(directory)).toEqual({ ids: ['a', 'b'], damaged: 5 });
  });
});

describe('an audit trail of several processes', () => {
  it('holds whole lines, and all that were durable, however they rotate it and are killed', async () => {
    const directory = await newDirectory();
    const names = ['one', 'two', 'three'];
    const running = await Promise.all(
      names.map((name) => startProgram(process.execPath, [program, directory, name, '2000'], /^60\n/m)),
    );
    const ended = await Promise.all(running.map((process) => process.stop('SIGKILL')));
    await openTrail(directory).append(event('last'));
    const found = new Map<string, number[]>(names.map((name) => [name, []]));
    let damaged = 0;
    for await (const { event: name, requestId } of readAuditEvents(directory, new Date(0), () => damaged++))
      found.get(name)?.push(Number(requestId));
    expect(damaged).toBeLessThanOrEqual(names.length);
    for (const [index, name] of names.entries()) {
      const durable = ended[index]?.stdout.split('\n').filter((line) => line !== '').length ?? 0;
      const numbers = found.get(name) ?? [];
      expect(durable).toBeGreaterThan(60);
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, number) => number));
      expect(numbers.length - durable).toBeGreaterThanOrEqual(0);
      expect(numbers.length - durable).toBeLessThanOrEqual(1);
    }
    expect((await trailFiles(directory)).length).toBeGreaterThan(3);
  });
});
