import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shellWord } from '../../shared/shellWord.ts';

describe('a word of a command', () => {
  it.each(['330000000000000001', './a/b-c.json'])('is unchanged: %s', (text) => {
    expect(shellWord(text)).toBe(text);
  });

  it.each([
    ...['', ' ', ' a', "it's", '$HOME', '`id`', 'a\nb', "it's\r\\x", '\u0007', '\u007f', 'ünï', '組織 1', '!x', '~'],
  ])('reaches a program unchanged, on one line: %j', (text) => {
    expect(shellWord(text)).not.toMatch(/[\r\n]/);
    expect(execFileSync('bash', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
  });
});
