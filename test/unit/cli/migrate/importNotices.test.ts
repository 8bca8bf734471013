import { describe, expect, it } from 'vitest';
import { sortNotices } from '../../../../cli/migrate/importNotices.ts';
import type { ImportResponse } from '../../../../functions/import/contract.ts';

type Warning = ImportResponse['summary']['warnings'][number];

const hash: Warning = { type: 'human_user', id: 'ada', reason: 'hash_unverified', message: 'reworded' };
const seed: Warning = { type: 'human_user', id: 'bob', reason: 'seed_unusable', message: 'not every system verifies' };
const access: Warning = { type: 'human_user', id: 'eve', reason: 'access_given', message: 'reworded' };
const unproved: Warning = { type: 'manifest', reason: 'manifest_missing', message: 'reworded' };

function response(...warnings: readonly Warning[]): ImportResponse {
  const none = { created: {}, unchanged: {}, failed: {}, notCarried: {} };
  return { success: {}, summary: { ...none, warnings: [...warnings], proved: true } };
}

const [instance, zitadel] = [{ kind: 'instance' }, { kind: 'zitadel' }];

describe('the warnings of an import into an instance', () => {
  it('exclude hashes that the instance verifies, whatever the messages are', () => {
    const { warnings } = sortNotices(response(hash, seed), instance, []);
    expect(warnings).toEqual([seed]);
  });
});

describe('the warnings of an import into a ZITADEL', () => {
  it('are remaining steps with their reasons, except those of the whole file', () => {
    const counted = { ...access, further: 2 };
    const sorted = sortNotices(response(unproved, access), zitadel, [counted]);
    expect(sorted).toMatchObject({ warnings: [unproved], leftToDo: [access] });
  });
});
