import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../shared/json/jsonObject.ts';
import { fieldDifferences } from '../../../shared/organisation/equality.ts';
import { withoutFilled } from '../../../shared/organisation/filledFields.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';

const person = (profile: JsonObject) => ({
  userId: 'U',
  user: { profile: { firstName: 'A', lastName: 'B', ...profile } },
});
const noProviders = () => false;

function isEqual(name: string, first: JsonObject, second: JsonObject): boolean {
  const content = (json: JsonObject) => ({ json, secrets: {} });
  return fieldDifferences(sectionNamed(name), content(first), content(second), noProviders).length === 0;
}

describe('a field that ZITADEL fills in', () => {
  it.each([
    ['a display name of first and last name', { displayName: 'A B' }],
    ['an undetermined language', { preferredLanguage: 'und' }],
    ['both', { displayName: 'A B', preferredLanguage: 'und' }],
  ])('is equivalent to an absent field: %s', (_name, profile) => {
    expect(isEqual('humanUsers', person({}), person(profile))).toBe(true);
    expect(withoutFilled(sectionNamed('humanUsers'), person(profile), noProviders)).toEqual(person({}));
  });

  it.each([
    ['another display name', { displayName: 'B A' }],
    ['another language', { preferredLanguage: 'de' }],
    ['another field', { displayName: 'A B', nickName: 'N' }],
  ])('does not hide %s', (_name, profile) => {
    expect(isEqual('humanUsers', person({}), person(profile))).toBe(false);
  });

  it.each([['loginTexts', { language: 'en' }, { language: 'en', footerText: {}, loginText: {} }]])(
    'is equivalent to an absent field in %s',
    (name, first, second) => {
      expect(isEqual(name, first, second)).toBe(true);
    },
  );

  it.each([
    ['sh-ekavsk', 'sr-Latn-ekavsk', true],
    ['i-default', 'en-x-i-default', true],
    ['sh-ekavsk', 'sr', false],
  ])('hides the spelling of a language: %s and %s', (first, second, expected) => {
    const [one, other] = [first, second].map((preferredLanguage) => person({ preferredLanguage }));
    expect(isEqual('humanUsers', one ?? {}, other ?? {})).toBe(expected);
  });
});
