import { appendFileSync, closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { OWNER_ONLY } from '../../shared/durableFiles.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import { type PhaseState, type ProgressOutput, pace } from '../progress.ts';
import type { MigrationResult } from './documents.ts';

const rate = { phase: z.string(), seconds: z.number(), records: z.int(), unchanged: z.int(), perSecond: z.number() };
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

/**
 * Lists the phases of a migration, the interrupted ones too. What is repeated until the next step is one phase, with the
 * figures of its last attempt: what a killed process did after its last sample is unknown.
 */
export function listPhases(entries: readonly JournalEntry[]): Phase[] {
  const phases: Phase[] = [];
  const open = new Map<string, number>();
  for (const line of entries) {
    if (line.event === 'step') open.clear();
    if (line.event !== 'sample' && line.event !== 'ended') continue;
    const index = open.get(line.phase) ?? phases.length;
    open.set(line.phase, index);
    phases[index] = phaseOf(line);
  }
  return phases;
}

function phaseOf(line: Extract<JournalEntry, { readonly phase: string }>): Phase {
  const { time, phase, seconds, records, unchanged } = line;
  const startedAt = new Date(Date.parse(time) - seconds * 1000).toISOString();
  const succeeded = line.event === 'ended' && line.succeeded;
  return { phase, startedAt, seconds, records, unchanged, perSecond: pace(records - unchanged, seconds), succeeded };
}
