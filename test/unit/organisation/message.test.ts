import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { DataActionSchema } from '@zitadel/proto/zitadel/v1_pb.js';
import { describe, expect, it } from 'vitest';
import { canonicalDuration, inspectJson, isBase64 } from '../../../shared/organisation/message.ts';

describe('a duration', () => {
  it.each([
    ['5s', '5s'],
    ['+5s', '5s'],
    ['-5s', '-5s'],
    ['.5s', '0.5s'],
    ['5.s', '5s'],
    ['.s', '0s'],
    ['1.123456789s', '1.123456789s'],
  ])('%s is %s', (text, duration) => expect(canonicalDuration(text)).toBe(duration));

  it.each(['', 's', '+s', '5', '010s', '5 s', ' 5s', '1.1234567890s', '1e1s', '1m', '5S'])('is not %j', (text) =>
    expect(canonicalDuration(text)).toBeUndefined(),
  );
});

describe('base64', () => {
  it.each(['', 'QQ==', 'QQ', 'QUI=', 'QUI', 'QUJD', 'Q_-D', 'QU\nJD\n=='.slice(0, 5)])('is %j', (text) =>
    expect(isBase64(text)).toBe(true),
  );
  it.each(['dj E=', 'Q', 'QQ=', 'Q+_D', 'QQ==QQ', '\u00e9'])('is not %j', (text) => expect(isBase64(text)).toBe(false));
});

describe('the forms of a message', () => {
  it('are unified in place, and reported if they are wrong', () => {
    const json = { action: { timeout: '+5s' } };
    expect(inspectJson(DataActionSchema, json).malformed).toEqual([]);
    expect(json.action.timeout).toBe('5s');
    expect(inspectJson(DataActionSchema, { action: { timeout: '05s' } }).malformed).toEqual([
      { path: 'action.timeout', reason: 'invalid duration "05s": expected a duration in seconds, such as "20s"' },
    ]);
  });
});

const UNSAFE = Number.MAX_SAFE_INTEGER + 1;

describe('integers of 64 bits in JSON', () => {
  it.each<[string, unknown, string[]]>([
    ['as numbers up to 2^53 - 1', { passwordComplexityPolicy: { minLength: Number.MAX_SAFE_INTEGER } }, []],
    ['as strings', { passwordComplexityPolicy: { minLength: '9007199254740993' } }, []],
    ['as larger numbers', { passwordComplexityPolicy: { minLength: UNSAFE } }, ['passwordComplexityPolicy.minLength']],
    [
      'beyond all numbers',
      { passwordComplexityPolicy: { minLength: Infinity } },
      ['passwordComplexityPolicy.minLength'],
    ],
    ['in snake_case', { password_complexity_policy: { min_length: UNSAFE } }, ['passwordComplexityPolicy.minLength']],
    ['inside lists', { domains: [{}, { details: { sequence: UNSAFE } }] }, ['domains[1].details.sequence']],
    ['below -2^53', { domains: [{ details: { sequence: -UNSAFE } }] }, ['domains[0].details.sequence']],
    ['of 32 bits, which have a range of their own', { lockoutPolicy: { maxPasswordAttempts: UNSAFE } }, []],
    ['in unknown fields', { unknown: UNSAFE, domains: [{ unknown: { sequence: UNSAFE } }] }, []],
    ['of a value other than an object', [UNSAFE], []],
  ])('are found %s', (_what, value, paths) => {
    expect(inspectJson(DataOrgSchema, value).rounded).toEqual(paths);
  });
});
