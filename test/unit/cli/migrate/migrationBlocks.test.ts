import { describe, expect, it } from 'vitest';
import { resultBlocks } from '../../../../cli/migrate/migrationBlocks.ts';
import { blockJson, blockLines } from '../../../../cli/report/blocks.ts';
import { layOut, layoutOf } from '../../../../cli/terminal/terminal.ts';
import { defined } from '../../../../shared/defined.ts';
import { migrationResult } from '../../../support/migrationResult.ts';

const nothing = {
  created: {},
  unchanged: {},
  overwritten: {},
  skipped: {},
  failed: {},
  notCarried: {},
  unconfirmed: {},
};
const done = { outcome: 'done' as const, errors: [] };

function lines(given: Parameters<typeof migrationResult>[0]): string[] {
  return layOut(blockLines(resultBlocks(migrationResult(given))), layoutOf({}, {})).split('\n');
}

function moved(records: number, imported: Partial<typeof nothing> | undefined) {
  const counts = imported === undefined ? {} : { imported: { ...nothing, ...imported } };
  return { organisations: 4, records, exported: {}, ...counts };
}

describe('the differences of a result', () => {
  it('are counted by records, including those that are not listed', () => {
    const { proof } = migrationResult();
    const [differing] = proof.differences;
    const differences = differing === undefined ? [] : Array.from({ length: 100 }, () => differing);
    const text = lines({ proof: { ...proof, expected: 156, unexpected: 471, differences } });
    expect(text).toContain('  627 records differ; --json lists 100');
  });

  it('are all in the report, with the number of those that exceed the limit', () => {
    const { proof } = migrationResult();
    const [differing] = proof.differences;
    const differences = differing === undefined ? [] : Array.from({ length: 5_000 }, () => differing);
    const reported = (differencesOmitted: number) =>
      resultBlocks(migrationResult({ proof: { ...proof, differences, differencesOmitted } })).find(
        ({ title }) => title === 'Differences',
      )?.lines ?? [];
    const lineCount = reported(0).length;
    expect(lineCount).toBeGreaterThanOrEqual(5_000);
    expect(reported(17)).toHaveLength(lineCount + 1);
    expect(reported(17).at(-1)).toBe('and 17 more');
  });
});

describe('the headline of a result', () => {
  const { proof } = migrationResult();
  const equal = { ...proof, unexpected: 0 };
  const people = (humanUsers: number) => ({ humanUsers });

  it.each([
    [
      { ...done, proof: equal, moved: moved(30_680, { created: people(30_680) }) },
      'Done: 30,680 records of 4 organisations: 30,680 created',
    ],
    [
      { ...done, proof: equal, moved: moved(30_680, { unchanged: people(30_680) }) },
      'Done, and nothing written: 30,680 records of 4 organisations: 30,680 unchanged',
    ],
    [
      { proof: { ...proof, unexpected: 2 }, moved: moved(30_680, { unchanged: people(30_679), failed: people(1) }) },
      'Finished with 2 differences and 1 error, and nothing written: 30,680 records of 4 organisations: 30,679 unchanged, 1 failed',
    ],
    [
      { ...done, proof: equal, moved: moved(1, undefined) },
      'Done: 1 record of 4 organisations stored in https://id.example.com',
    ],
  ])('contains the written and the missing records: %#', (given, headline) => {
    expect(lines(given)[0]).toBe(headline);
  });

  it('is followed by figures for people, and by no ids of errors', () => {
    const text = lines({}).join('\n');
    expect(text).toContain('exporting: 33,180 records in 1m 0s, 553/s');
    expect(text).toContain('\nErrors\n  person 330000000000000201: exists with other content');
    expect(text).not.toMatch(/COMMAND-|Errors\./);
    expect(text).toMatch(/\n\nBy hand\n {2}delete \/north.pat:\n {2}rm \/north.pat\n\nTo undo the migration\n/);
  });
});

describe('the time for which a source must not change', () => {
  const { proof } = migrationResult();
  const sourceReadAt = '2026-11-22T20:00:02.000Z';

  it.each([
    [
      'until the target is equal',
      { sourceReadAt, targetEqualAt: proof.provedAt },
      `the source was read at ${sourceReadAt}; at 2026-11-22T20:02:30.000Z, 2m 28s later, the target was equal`,
    ],
    [
      'if the target is not equal',
      { sourceReadAt },
      `the source was read at ${sourceReadAt}; at 2026-11-22T20:02:30.000Z, the target differed`,
    ],
    [
      'without a duration for a file, whose age is no standstill',
      { source: { place: 'export.json', kind: 'file' }, sourceReadAt, targetEqualAt: proof.provedAt },
      `the file was exported at ${sourceReadAt}, and lacks later changes; at 2026-11-22T20:02:30.000Z, the target was equal`,
    ],
    ['if nothing states when a file was read', { targetEqualAt: proof.provedAt }, undefined],
    ['after a proof by checksum', { sourceReadAt, proof: { ...proof, method: 'checksum' as const } }, undefined],
  ])('is a line of its own %s', (_when, given, line) => {
    const found = lines(given).filter((line) => /^the (source was read|file was exported) at/.test(line));
    expect(found).toEqual(line === undefined ? [] : [line]);
    const { sourceReadAt: read, targetEqualAt } = migrationResult(given);
    expect(blockJson(resultBlocks(migrationResult(given)))).toMatchObject(
      defined({ sourceReadAt: read, targetEqualAt }),
    );
  });
});

describe('the list of what takes a migration back', () => {
  const old = (index: number) => ({
    what: `org-${index} existed when this run began: delete it only if an earlier, interrupted run created it`,
  });
  const takeBack = [
    { what: 'delete new', command: 'identity org delete new' },
    ...Array.from({ length: 60 }, (_, index) => old(index)),
  ];

  it('is shortened on the terminal by steps, each with its command', () => {
    const shown = lines({ takeBack });
    const start = shown.indexOf('To undo the migration');
    expect(shown.slice(start + 1, start + 4)).toEqual([
      '  delete new:',
      '  identity org delete new',
      '  org-0 existed when this run began: delete it only if an earlier, interrupted run created it',
    ]);
    expect(shown.slice(start + 21)).toEqual([
      '  org-18 existed when this run began: delete it only if an earlier, interrupted run created it',
      '  41 more steps; --json lists them',
    ]);
  });

  it('is complete in the page and in JSON', () => {
    const block = resultBlocks(migrationResult({ takeBack })).find(({ title }) => title === 'To undo the migration');
    expect(block?.lines).toHaveLength(62);
    expect(block?.data).toEqual({ takeBack });
  });
});
