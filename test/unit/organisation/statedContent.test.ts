import { describe, expect, it } from 'vitest';
import { recordSection } from '../../../shared/organisation/allSections.ts';
import { readRecord } from '../../../shared/organisation/record.ts';
import { nothingStated, withStated } from '../../../shared/organisation/statedContent.ts';

const project = { projectId: 'p', project: { name: 'P' } };
const robot = { userId: 'u', user: { userName: 'r', name: 'R' } };

describe('the state of a record', () => {
  it.each([
    [
      'given by the record',
      'projects',
      { ...project, state: 'PROJECT_STATE_ACTIVE' },
      'PROJECT_STATE_ACTIVE',
      'given',
      'given',
    ],
    ['the usual one if its file states that', 'projects', project, 'PROJECT_STATE_ACTIVE', 'unknown', 'derived'],
    ['unknown for a user without one', 'machineUsers', robot, 'USER_STATE_ACTIVE', 'unknown', 'unknown'],
  ])('is %s', (_which, name, json, value, source, stated) => {
    const record = readRecord(recordSection(name), json, 'o');
    expect(withStated(record, nothingStated).state).toEqual({ value, source });
    expect(withStated(record, { ...nothingStated, states: true }).state).toEqual({ value, source: stated });
  });

  it('does not exist in a section without states', () => {
    const record = readRecord(recordSection('projectRoles'), { projectId: 'p', roleKey: 'r' }, 'o');
    expect(withStated(record, { ...nothingStated, states: true }).state).toBeUndefined();
  });
});
