import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../shared/json/jsonObject.ts';
import { fieldDifferences } from '../../../shared/organisation/equality.ts';
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
    ['sh-ekavsk', 'sr-Latn-ekavsk', true],
    ['i-default', 'en-x-i-default', true],
    ['sh-ekavsk', 'sr', false],
  ])('hides the spelling of a language: %s and %s', (first, second, expected) => {
    const [one, other] = [first, second].map((preferredLanguage) => person({ preferredLanguage }));
    expect(isEqual('humanUsers', one ?? {}, other ?? {})).toBe(expected);
  });
});
