import { describe, expect, it } from 'vitest';
import { counted, countList, firstLines, sizeText } from '../../../cli/numberTexts.ts';

describe('a number with its noun', () => {
  it.each([
    [0, 'record', '0 records'],
    [1, 'organisation', '1 organisation'],
    [30_680, 'record', '30,680 records'],
    [1, 'person', '1 person'],
    [20_000, 'person', '20,000 people'],
  ])('is for %i and %s: %s', (count, noun, text) => {
    expect(counted(count, noun)).toBe(text);
  });

  it('is printed for the lines that are not shown', () => {
    const lines = Array.from({ length: 21 }, (_, index) => `line ${index}`);
    expect(firstLines(lines, 'error').at(-1)).toBe('1 more error; --json lists them');
    expect(firstLines(lines, 'thing left to do', 1_999).at(-1)).toBe('2,000 more things left to do; --json lists 1');
    expect(firstLines(lines.slice(1), 'warning', 7).at(-1)).toBe('7 more warnings');
  });

  it('follows the name of its section in a list of counts', () => {
    expect(countList({ org: 2, humanUsers: 30_680 })).toBe('organisations 2, people 30,680');
  });
});

describe('a number of bytes', () => {
  it.each([
    [1, '0.1 kB'],
    [512_000, '512 kB'],
    [6_236_888, '6.3 MB'],
    [1_500_000_000_000, '1,500 GB'],
  ])('is rounded for %i: %s', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});
