import { describe, expect, it } from 'vitest';
import { withArticle } from '../../../shared/errors/nouns.ts';

describe('the article of a noun', () => {
  it.each([
    ['person', 'a person'],
    ['application', 'an application'],
    ['user link', 'a user link'],
    ['update', 'an update'],
  ])('suits its sound: %s', (noun, text) => {
    expect(withArticle(noun)).toBe(text);
  });
});
