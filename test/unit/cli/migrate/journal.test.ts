import { appendFile } from 'node:fs/promises';
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
  it('have their last rate, and an entry for each attempt', () => {
    const phase = (seconds: number) => ({ phase: 'importing', seconds, records: seconds * 10, perSecond: 10 });
    const resumed: JournalEntry = { time, event: 'resumed' };
    const entries = [
      sample('importing', 2),
      sample('importing', 4),
      resumed,
      sample('importing', 6),
      ended('importing', 7),
    ];
    expect(listPhases(entries)).toEqual([
      { ...phase(4), startedAt: '2026-01-01T00:00:58.000Z', succeeded: false },
      { ...phase(7), startedAt: '2026-01-01T00:00:54.000Z', succeeded: true },
    ]);
  });

  it('are apart, and begin before their end', () => {
    const phases = listPhases([
      sample('exporting', 1),
      ended('exporting', 2_000),
      ended('importing', 60),
      ended('importing', 5),
    ]);
    expect(phases.map(({ phase, seconds }) => `${phase} ${seconds}`)).toEqual([
      'exporting 2000',
      'importing 60',
      'importing 5',
    ]);
    expect(phases[1]?.startedAt).toBe('2026-01-01T00:00:00.000Z');
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
  });
});
