import { describe, expect, it } from 'vitest';
import { nearestName } from '../../../shared/nearestName.ts';
import { IgnoredFields } from '../../../shared/wire/ignoredFields.ts';

const known = ['org_ids', 'excluded_org_ids', 'with_passwords', 'with_otp', 'with_keys', 'timeout', 'response_output'];

const spellings = new Map(known.map((name) => [name, name]));

describe('the nearest known name', () => {
  it.each([
    ['with_password', 'with_passwords'],
    ['withPassword', 'with_passwords'],
    ['WITH-PASSWORDS', 'with_passwords'],
    ['tiemout', 'timeout'],
    ['excluded_orgs_ids', 'excluded_org_ids'],
    ['org_id', 'org_ids'],
    ['keys', 'with_keys'],
    ['otp', 'with_otp'],
  ])('of %s is %s', (name, nearest) => {
    expect(nearestName(name, known)).toBe(nearest);
  });

  it.each(['comment', 'x', '', '_', 'x-request', 'with', 'a'.repeat(65)])('does not exist for %j', (name) => {
    expect(nearestName(name, known)).toBeUndefined();
  });
});

describe('the ignored fields of a request', () => {
  it('are listed once each, in their order', () => {
    const fields = new IgnoredFields(spellings);
    for (const name of ['with_key', 'comment', 'with_key']) fields.add(name);
    expect(fields.list).toEqual([{ field: 'with_key', nearest: 'with_keys' }, { field: 'comment' }]);
  });

  it('are limited in their number and in the length of their names, without half a character', () => {
    const fields = new IgnoredFields(spellings);
    fields.add('\u{1F600}'.repeat(500));
    for (let index = 0; index < 1_000; index++) fields.add(`field${index}`);
    expect(fields.list).toHaveLength(20);
    expect(fields.list[0]).toEqual({ field: `${'\u{1F600}'.repeat(32)}...` });
  });
});
