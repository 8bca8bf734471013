import { appendFileSync, closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { OWNER_ONLY } from '../../shared/durableFiles.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import { IMPORTING } from '../places/recordCounter.ts';
import { type PhaseState, type ProgressOutput, pace, rounded } from '../progress.ts';
import type { MigrationResult } from './documents.ts';

const rate = {
  phase: z.string(),
  seconds: z.number(),
  records: z.int(),
  unchanged: z.int(),
  perSecond: z.number(),
};
const entry = z.discriminatedUnion('event', [
  z.object({ time: z.iso.datetime(), event: z.literal('started') }),
  z.object({ time: z.iso.datetime(), event: z.literal('resumed') }),
  z.object({ time: z.iso.datetime(), event: z.literal('failed'), problem: z.string() }),
  z.object({ time: z.iso.datetime(), event: z.literal('sample'), ...rate }),
  z.object({ time: z.iso.datetime(), event: z.literal('ended'), ...rate, succeeded: z.boolean() }),
  z.object({ time: z.iso.datetime(), event: z.literal('retry'), problem: z.string() }),
  z.object({ time: z.iso.datetime(), event: z.literal('step'), step: z.string() }),
]);

/** A line of the journal. */
export type JournalEntry = z.infer<typeof entry>;

type Untimed<Entry> = Entry extends unknown ? Omit<Entry, 'time'> : never;

/** The least time between two samples of a phase's rate. */
const SAMPLE_MS = 2_000;

/** What a migration has done, line by line: it survives the process. It holds no content of an export. */
export class Journal implements Disposable {
  private readonly file: number;

  constructor(directory: string) {
    const path = join(directory, 'journal.ndjson');
    this.file = openSync(path, 'a', OWNER_ONLY);
    // The line that a crash has cut must not swallow the next one.
    ftruncateSync(this.file, readFileSync(path).lastIndexOf('\n') + 1);
  }

  /** Adds a line. Samples may be lost with the power; everything else is durable. */
  add(line: Untimed<JournalEntry>): void {
    appendFileSync(this.file, `${JSON.stringify({ time: new Date().toISOString(), ...line })}\n`);
    if (line.event !== 'sample') fsyncSync(this.file);
  }

  /** Returns an output that keeps the rates of the phases that it shows. */
  keepRates(output: ProgressOutput): ProgressOutput {
    let sampledMs = 0;
    const facts = ({ isEnding: _, secondsLeft: __, ...state }: PhaseState) => state;
    return {
      intervalMs: output.intervalMs,
      show: (state) => {
        output.show(state);
        if (performance.now() - sampledMs < SAMPLE_MS) return;
        sampledMs = performance.now();
        this.add({ event: 'sample', ...facts(state) });
      },
      finish: (state, succeeded) => {
        output.finish(state, succeeded);
        this.add({ event: 'ended', ...facts(state), succeeded });
      },
      retry: (problem, seconds) => {
        output.retry(problem, seconds);
        this.add({ event: 'retry', problem });
      },
    };
  }

  [Symbol.dispose](): void {
    closeSync(this.file);
  }
}

/** Reads the lines of a journal, without those that a crash has damaged. */
export function readJournal(directory: string): readonly JournalEntry[] {
  const path = join(directory, 'journal.ndjson');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  return lines.flatMap((line) => {
    const { data } = entry.safeParse(parseIfJson(line));
    return data === undefined ? [] : [data];
  });
}

type Phase = MigrationResult['phases'][number];

/** What attempts at a phase took, and how many records they moved: not those that were there before. */
interface Effort {
  readonly seconds: number;
  readonly moved: number;
}

/** A phase while its lines are read. */
interface OpenPhase {
  readonly listed: Phase;
  /** The attempts before the last one. */
  before: Effort;
  all: Effort;
  /** Whether the last attempt goes on. */
  isRunning: boolean;
}

/**
 * Lists the phases of a migration, the interrupted ones too. What is repeated until the next step is one phase: its time
 * is that of all its attempts, its records are those of the last one, and its speed is what was measured of both.
 * @param unchanged the records that were there before the migration, as the import's end says: an attempt takes for those
 * also what earlier ones moved
 */
export function listPhases(entries: readonly JournalEntry[], unchanged?: number): Phase[] {
  const phases: OpenPhase[] = [];
  const open = new Map<string, OpenPhase>();
  for (const line of entries) {
    if (line.event === 'step') open.clear();
    if (line.event === 'resumed') for (const phase of open.values()) phase.isRunning = false;
    if (line.event !== 'sample' && line.event !== 'ended') continue;
    const known = open.get(line.phase);
    const phase = known ?? openPhase(line);
    if (known === undefined) phases.push(phase);
    open.set(line.phase, phase);
    addLine(phase, line);
  }
  const imported = phases.findLast(({ listed }) => listed.phase === IMPORTING);
  return phases.map((phase) => {
    const listed =
      phase === imported ? { ...phase.listed, unchanged: unchanged ?? phase.listed.unchanged } : phase.listed;
    const moved = Math.min(phase.all.moved, listed.records - listed.unchanged);
    return { ...listed, perSecond: pace(moved, listed.seconds) };
  });
}

type RateLine = Extract<JournalEntry, { readonly phase: string }>;

function openPhase({ time, phase, seconds, records, unchanged }: RateLine): OpenPhase {
  const startedAt = new Date(Date.parse(time) - seconds * 1000).toISOString();
  const listed = { phase, startedAt, seconds: 0, records, unchanged, perSecond: 0, succeeded: false };
  const none = { seconds: 0, moved: 0 };
  return { listed, before: none, all: none, isRunning: false };
}

function addLine(phase: OpenPhase, line: RateLine): void {
  const { records, unchanged } = line;
  if (!phase.isRunning) phase.before = phase.all;
  const { seconds, moved } = phase.before;
  phase.all = { seconds: seconds + line.seconds, moved: moved + records - unchanged };
  phase.isRunning = line.event === 'sample';
  const succeeded = line.event === 'ended' && line.succeeded;
  Object.assign(phase.listed, { seconds: rounded(phase.all.seconds), records, unchanged, succeeded });
}
