import { describe, expect, it } from 'vitest';
import { trimSpace } from '../../../shared/organisation/valueRules.ts';

describe('a text without the white space around it', () => {
  it.each([
    [' \t\r\n\u0085\u00a0a b\u3000', 'a b'],
    ['\ufeffa', '\ufeffa'],
    ['\u{1f600} ', '\u{1f600}'],
    [' \u2028 ', ''],
    ['', ''],
  ])('is, for %j, %j', (text, trimmed) => {
    expect(trimSpace(text)).toBe(trimmed);
  });

  it('takes linear time', () => {
    const text = `a${' '.repeat(1_000_000)}a`;
    expect(trimSpace(text)).toBe(text);
  });
});
