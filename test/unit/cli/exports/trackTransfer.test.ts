import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { changedText, trackImport } from '../../../../cli/exports/trackTransfer.ts';
import { progressLines } from '../../../../cli/terminal/progress.ts';
import { ImportReport } from '../../../../functions/import/results/report.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('an import that has waited for other operations shows the speed of its work', async () => {
  const written: string[] = [];
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const holder = { operation: 'rekey', caller: 'root', since: '2026-01-02T03:04:05.678Z' };
  const report = new ImportReport();
  for (let number = 0; number < 1_000; number++) report.count('created', 'humanUsers');
  const importing = trackImport(
    {
      import: async (_content, _options, meter) => {
        meter.onPhase('sending');
        meter.onWait(holder);
        meter.onPhase('importing', () => ({ records: 0, total: 1_000 }));
        await pause(20_000);
        meter.onWait({ ...holder, operation: 'import' });
        await pause(10_000);
        meter.onWait(undefined);
        await pause(10_000);
        return report.toJson({ proved: true, dryRun: false });
      },
    },
    {
      name: 'file',
      content: { isRepeatable: true, open: () => expect.unreachable(), [Symbol.asyncDispose]: async () => {} },
    },
    { dryRun: false, orgIds: [], excludedOrgIds: [], withKeys: false, onConflict: 'report', ids: true },
    { output: progressLines({ write: (text) => void written.push(text) }), signal: new AbortController().signal },
  );
  await vi.advanceTimersByTimeAsync(40_000);
  await importing;
  expect(written.filter((line) => line.startsWith('waiting'))).toHaveLength(2);
  expect(written.at(-1)).toBe('importing: 1,000 records, 100/s, done in 40s\n');
});

const phase = (records: number, unchanged = 0) => ({ records, unchanged });

describe('an interrupted import', () => {
  it.each([
    ['nothing is changed in TARGET', {}],
    ['nothing is changed in TARGET', { 'checking FILE': phase(3) }],
    // ZITADEL compares before this process writes.
    ['nothing is changed in TARGET', { comparing: phase(3), trying: phase(3) }],
    ['TARGET had not confirmed any record, but may have written records, which remain', { sending: phase(0) }],
    ['TARGET had not confirmed any record, but may have written records, which remain', { reading: phase(3) }],
    [
      'TARGET had confirmed 3 records, all unchanged, but may have written further records, which remain',
      { sending: phase(9), importing: phase(3, 3) },
    ],
    ['TARGET had confirmed 1 record; all written records remain', { comparing: phase(9), importing: phase(1) }],
    ['TARGET had confirmed 3 records; all written records remain', { reading: phase(9), importing: phase(3, 2) }],
  ])('is described by what was seen: %s', (text, phases) => {
    expect(changedText('TARGET', new Map(Object.entries(phases)))).toBe(text);
  });
});
