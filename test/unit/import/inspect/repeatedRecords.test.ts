import { describe, expect, it } from 'vitest';
import { KeyFilter, RepeatedRecords } from '../../../../functions/import/inspect/repeatedRecords.ts';
import { readRecord } from '../../../../shared/organisation/record.ts';
import { sectionNamed } from '../../../support/fixtures/sectionNamed.ts';

const record = (section: string, value: object, orgId = 'O') => readRecord(sectionNamed(section), value, orgId);
const project = (projectId: string, name: string, orgId?: string) =>
  record('projects', { projectId, project: { name } }, orgId);
const member = (roles: string[], orgId: string) =>
  record('projectMembers', { projectId: 'P', userId: 'U', roles }, orgId);

/** Passes records through both passes; returns the positions of those that repeat a key with other content. */
function repetitions(records: readonly ReturnType<typeof record>[]): number[] {
  using repeated = new RepeatedRecords();
  for (const one of records) repeated.note(one);
  if (!repeated.needsComparison) return [];
  for (const [index, one] of records.entries()) repeated.compare(one, ['orgs', index]);
  return [...records.keys()].filter((index) => repeated.has(['orgs', index]));
}

describe('the repeated records of a file', () => {
  it('are those whose content differs from the first one with their key', () => {
    const one = project('1', 'one');
    expect(repetitions([one, project('2', 'one'), one, project('1', 'other'), one, project('1', 'third')])).toEqual([
      3, 5,
    ]);
  });

  it('may be of other organisations and sections', () => {
    const person = record('humanUsers', { userId: 'U', user: { userName: 'a' } });
    const robot = record('machineUsers', { userId: 'U', user: { userName: 'a' } });
    expect(repetitions([project('1', 'one', 'P'), project('1', 'one'), person, robot])).toEqual([1, 3]);
  });

  it('are not the members that ZITADEL exports under every organisation', () => {
    expect(repetitions([member(['A'], 'O'), member(['A'], 'P'), member(['B'], 'P')])).toEqual([2]);
  });

  it('need no second pass where all keys differ', () => {
    using repeated = new RepeatedRecords();
    for (let index = 0; index < 10_000; index++) repeated.note(project(`${index}`, 'same'));
    expect(repeated.needsComparison).toBe(false);
  });
});

describe('the filter of keys', () => {
  it('recognises each of its keys, and mistakes fewer than one new key in a thousand', () => {
    const filter = new KeyFilter();
    const keys = Array.from({ length: 20_000 }, (_, index) => `userMetadata/${330_000 + (index >> 1)}|${index % 2}`);
    expect(keys.filter((key) => filter.add(key)).length).toBeLessThan(20);
    expect(keys.every((key) => filter.add(key))).toBe(true);
  });
});
