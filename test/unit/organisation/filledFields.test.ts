import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../shared/json/jsonObject.ts';
import { filledFields, isEqualWhenFilled, withoutFilled } from '../../../shared/organisation/filledFields.ts';
import { sections } from '../../../shared/organisation/sections.ts';

function section(name: string) {
  const found = sections.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no section ${name}`);
  return found;
}

const person = (profile: JsonObject) => ({
  userId: 'U',
  user: { profile: { firstName: 'A', lastName: 'B', ...profile } },
});
const isEqual = (name: string, first: JsonObject, second: JsonObject) =>
  isEqualWhenFilled(section(name), JSON.stringify(first), JSON.stringify(second));

describe('a field that ZITADEL fills in', () => {
  it.each([
    ['a display name of first and last name', { displayName: 'A B' }],
    ['an undetermined language', { preferredLanguage: 'und' }],
    ['both', { displayName: 'A B', preferredLanguage: 'und' }],
  ])('is as good as absent: %s', (_name, profile) => {
    expect(isEqual('humanUsers', person({}), person(profile))).toBe(true);
    expect(withoutFilled(section('humanUsers'), person(profile))).toEqual(person({}));
  });

  it.each([
    ['another display name', { displayName: 'B A' }],
    ['another language', { preferredLanguage: 'de' }],
    ['another field', { displayName: 'A B', nickName: 'N' }],
  ])('does not hide %s', (_name, profile) => {
    expect(isEqual('humanUsers', person({}), person(profile))).toBe(false);
  });

  it.each([
    ['oidcApps', { app: { name: 'a' } }, { app: { name: 'a', clockSkew: '0s' } }],
    ['loginPolicy', {}, { passwordCheckLifetime: '0s', mfaInitSkipLifetime: '0s' }],
    ['loginTexts', { language: 'en' }, { language: 'en', footerText: {}, loginText: {} }],
    ['loginPolicy', { idps: [{ idpId: 'I' }] }, { idps: [{ idpId: 'I', ownerType: 'IDP_OWNER_TYPE_ORG' }] }],
  ])('is as good as absent in %s', (name, first, second) => {
    expect(isEqual(name, first, second)).toBe(true);
  });

  it.each([
    ['sh-ekavsk', 'sr-Latn-ekavsk', true],
    ['i-default', 'en-x-i-default', true],
    ['sh-ekavsk', 'sr', false],
  ])('hides how a language is written: %s and %s', (first, second, expected) => {
    const [one, other] = [first, second].map((preferredLanguage) => person({ preferredLanguage }));
    expect(isEqual('humanUsers', one ?? {}, other ?? {})).toBe(expected);
  });

  it('stands in the document on ZITADEL', () => {
    const [, table = ''] = readFileSync('docs/zitadel.md', 'utf8').split('### 4.3');
    const [content = ''] = table.split('### 4.4');
    const names = filledFields.map(({ path }) => path.slice(path.lastIndexOf('.') + 1));
    expect(names.filter((name) => !content.includes(`\`${name}\``))).toEqual([]);
  });
});
