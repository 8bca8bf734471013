import { describe, expect, it } from 'vitest';
import { Comparison } from '../../../shared/exportFile/comparison.ts';
import { readRecord } from '../../../shared/organisation/record.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';

const project = (name: string) => readRecord(sectionNamed('projects'), { projectId: 'P', project: { name } }, 'O');
const link = (name: string) =>
  readRecord(sectionNamed('userLinks'), { userId: 'U', idpId: 'I', providedUserId: 'x', providedUserName: name }, 'O');

describe('a record that one side has twice', () => {
  const differences = (first: readonly (typeof project)[], names: { first: string[]; second: string[] }) =>
    first.flatMap((record) => {
      using comparison = new Comparison({ withPasswords: true, withOtp: true, withKeys: true }, 10);
      for (const name of names.first) comparison.first.add(record(name));
      for (const name of names.second) comparison.second.add(record(name));
      comparison.finish();
      return comparison.differences.entries.map(({ outcome, isRepeat }) => ({ outcome, isRepeat }));
    });
  const kinds = [project, link];

  it('with other content is only on that side, as a repetition', () => {
    const once = ['one'];
    const twice = ['one', 'two'];
    const repeated = (outcome: string) => kinds.map(() => ({ outcome, isRepeat: true }));
    expect(differences(kinds, { first: once, second: twice })).toEqual(repeated('onlySecond'));
    expect(differences(kinds, { first: twice, second: once })).toEqual(repeated('onlyFirst'));
    expect(differences(kinds, { first: twice, second: twice })).toEqual([]);
  });

  it('with the same content is there once', () => {
    expect(differences(kinds, { first: ['one'], second: ['one', 'one'] })).toEqual([]);
  });

  it('is not a repetition if the other side lacks it', () => {
    const expected = kinds.map(() => ({ outcome: 'onlySecond', isRepeat: undefined }));
    expect(differences(kinds, { first: [], second: ['one'] })).toEqual(expected);
  });
});
