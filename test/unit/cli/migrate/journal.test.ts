import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Journal, type JournalEntry, listPhases, readJournal } from '../../../../cli/migrate/journal.ts';
import { temporaryDirectory } from '../../../support/processes/temporaryDirectory.ts';

const time = '2026-01-01T00:01:00.000Z';
const rate = (phase: string, seconds: number) => ({ time, phase, seconds, records: seconds * 10, perSecond: 10 });
const sample = (phase: string, seconds: number): JournalEntry => ({ event: 'sample', ...rate(phase, seconds) });
const ended = (phase: string, seconds: number): JournalEntry => ({
  event: 'ended',
  ...rate(phase, seconds),
  succeeded: true,
});

describe('the phases of a journal', () => {
  it('have the time of all their attempts until the next step, and the records of the last one', () => {
    const resumed: JournalEntry = { time, event: 'resumed' };
    const entries: JournalEntry[] = [
      sample('importing', 2),
      sample('importing', 4),
      resumed,
      sample('importing', 6),
      ended('importing', 7),
      { time, event: 'retry', problem: 'lost' },
      ended('importing', 9),
      { time, event: 'step', step: 'moved' },
      sample('importing', 2),
    ];
    const phase = (seconds: number, records: number, perSecond: number) => ({
      phase: 'importing',
      ...{ seconds, records, perSecond },
      startedAt: '2026-01-01T00:00:58.000Z',
    });
    expect(listPhases(entries)).toEqual([
      { ...phase(20, 90, 4.5), succeeded: true },
      { ...phase(2, 20, 10), succeeded: false },
    ]);
  });

  it('are apart, also at the same time, and begin before their end', () => {
    const phases = listPhases([
      sample('exporting', 1),
      sample('importing', 30),
      ended('exporting', 2_000),
      ended('importing', 60),
    ]);
    expect(phases.map(({ phase, seconds }) => `${phase} ${seconds}`)).toEqual(['exporting 2000', 'importing 60']);
    expect(phases[1]?.startedAt).toBe('2026-01-01T00:00:30.000Z');
  });
});

describe('a journal', () => {
  it('survives the line that a crash has cut', async () => {
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    {
      using journal = new Journal(path);
      journal.add({ event: 'started' });
    }
    await appendFile(join(path, 'journal.ndjson'), '{"time":"2026-01-');
    {
      using journal = new Journal(path);
      journal.add({ event: 'resumed' });
    }
    expect(readJournal(path).map(({ event }) => event)).toEqual(['started', 'resumed']);
    const text = await readFile(join(path, 'journal.ndjson'), 'utf8');
    expect(text).toMatch(/^\{.*\}\n\{"time":"2026-01-\n\{.*\}\n$/);
  });
});
