import { DataActionSchema } from '@zitadel/proto/zitadel/v1_pb.js';
import { describe, expect, it } from 'vitest';
import { canonicalDuration, isBase64, unifyWireForms } from '../../../shared/organisation/wireForms.ts';

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
  it('are unified in place, and reported where they are wrong', () => {
    const json = { action: { timeout: '+5s' } };
    expect(unifyWireForms(DataActionSchema, json)).toEqual([]);
    expect(json.action.timeout).toBe('5s');
    expect(unifyWireForms(DataActionSchema, { action: { timeout: '05s' } })).toEqual([
      { path: 'action.timeout', reason: 'invalid duration "05s"' },
    ]);
  });
});
