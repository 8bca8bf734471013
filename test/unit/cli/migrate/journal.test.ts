import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Journal, type JournalEntry, listPhases, readJournal } from '../../../../cli/migrate/journal.ts';
import { phaseText } from '../../../../cli/progress.ts';
import { temporaryDirectory } from '../../../support/processes/temporaryDirectory.ts';

const time = '2026-01-01T00:01:00.000Z';
const counts = { records: 0, unchanged: 0, perSecond: 10 };
const rate = (phase: string, seconds: number) => ({ time, phase, seconds, ...counts, records: seconds * 10 });
const sample = (phase: string, seconds: number): JournalEntry => ({ event: 'sample', ...rate(phase, seconds) });
const ended = (phase: string, seconds: number): JournalEntry => ({
  event: 'ended',
  ...rate(phase, seconds),
  succeeded: true,
});

describe('the phases of a journal', () => {
  it('have the figures of the last of their attempts until the next step', () => {
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
    const phase = (seconds: number) => ({
      phase: 'importing',
      seconds,
      records: seconds * 10,
      unchanged: 0,
      perSecond: 10,
    });
    expect(listPhases(entries)).toEqual([
      { ...phase(9), startedAt: '2026-01-01T00:00:51.000Z', succeeded: true },
      { ...phase(2), startedAt: '2026-01-01T00:00:58.000Z', succeeded: false },
    ]);
  });

  it('have the figures of the last attempt, whose speed is that of what it wrote', () => {
    const last = { records: 90, unchanged: 50 };
    const entries: JournalEntry[] = [
      sample('importing', 4),
      { time, event: 'resumed' },
      { ...ended('importing', 4), ...last },
    ];
    const [phase] = listPhases(entries);
    expect(phase).toMatchObject({ seconds: 4, ...last, perSecond: 10 });
    expect(phase && phaseText(phase)).toBe('90 records (50 unchanged) in 4s');
  });

  it('are apart, also at the same time, and begin before their end', () => {
    const phases = listPhases([
      sample('exporting', 1),
      sample('importing', 30),
      ended('exporting', 2_000),
      ended('importing', 60),
    ]);
    expect(phases.map(({ phase, seconds }) => `${phase} ${seconds}`)).toEqual(['exporting 2000', 'importing 60']);
    expect(phases[1]?.startedAt).toBe('2026-01-01T00:00:00.000Z');
  });
});

describe('a journal', () => {
  it('loses the line that a crash has cut, and nothing else', async () => {
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
    const lines = (await readFile(join(path, 'journal.ndjson'), 'utf8')).split('\n');
    expect(lines.slice(0, -1).map((line) => JSON.parse(line).event)).toEqual(['started', 'resumed']);
    expect(lines.at(-1)).toBe('');
    expect(readJournal(path)).toHaveLength(2);
  });
});
