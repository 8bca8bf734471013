import { describe, expect, it } from 'vitest';
import { recordNoun, words } from '../../../cli/nouns.ts';
import { sections } from '../../../shared/organisation/sections.ts';

describe('the noun for records', () => {
  it.each(sections.map(({ name, error }) => [name, error.type]))('is the same for %s and %s', (name, type) => {
    expect(recordNoun(type)).toBe(recordNoun(name));
    expect(words(name) + recordNoun(type)).not.toMatch(/_|[a-z][A-Z]/);
  });

  it.each([
    ['humanUsers', 'people', 'person'],
    ['org', 'organisations', 'organisation'],
    ['projectRoles', 'project roles', 'project role'],
    ['human_user_otp', 'TOTP seed', 'TOTP seed'],
    ['state', 'records', 'record'],
    ['constructor', 'constructor', 'constructor'],
  ])('has a plural and a singular: %s', (name, many, one) => {
    expect([words(name), recordNoun(name)]).toEqual([many, one]);
  });
});
