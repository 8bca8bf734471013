import { describe, expect, it } from 'vitest';
import { complexityIssue, defaultComplexity, parseComplexity } from '../../../shared/organisation/passwords.ts';

describe('the complexity of a password', () => {
  it.each([
    ['Secret1', 'DOMAIN-HuJf6'],
    ['SECRET1!', 'DOMAIN-co3Xw'],
    ['secret1!', 'DOMAIN-VoaRj'],
    ['Secrets!', 'DOMAIN-ZBv4H'],
    ['Secrets1', 'DOMAIN-ZDLwA'],
  ])('%s breaks the default policy with %s', (password, id) => {
    expect(complexityIssue(defaultComplexity, password)?.id).toBe(id);
  });

  it.each(['Secret1!', 'Sécrêt1 x', 'Пароль12 длинный'])('%s keeps the default policy', (password) => {
    expect(complexityIssue(defaultComplexity, password)).toBeUndefined();
  });

  it('is what the policy of the organisation asks for, and no more', () => {
    expect(complexityIssue(parseComplexity({ minLength: '4' }), 'abcd')).toBeUndefined();
    expect(complexityIssue(parseComplexity({ minLength: '4', hasNumber: true }), 'abcd')?.id).toBe('DOMAIN-ZBv4H');
    expect(complexityIssue(parseComplexity({ minLength: '5' }), '😀😀😀😀')?.id).toBe('DOMAIN-HuJf6');
  });
});
