import { expect, it } from 'vitest';
import { isPublicMailProvider } from '../../../../functions/import/write/privileges.ts';

it.each(['gmail.com', 'GMAIL.com', 'outlook.com', 'gmx.de', 'ｇmail.com'])(
  '%s is the domain of a public mail provider',
  (domain) => {
    expect(isPublicMailProvider(domain)).toBe(true);
  },
);

it.each(['example.com', 'mail.example.com', 'notgmail.com', 'localhost', '', 'not a domain'])('%s is not', (domain) => {
  expect(isPublicMailProvider(domain)).toBe(false);
});
