import { describe, expect, it } from 'vitest';
import { checkPerson } from '../../../../shared/organisation/sections/users.ts';

describe('a person', () => {
  const withEmail = (email: string) => checkPerson({ user: { email: { email } } });

  it.each(['a@b', 'first.last+tag@sub.example.com', "o'brien_1@xn--bcher-kva.example"])(
    'may have the address %s',
    (email) => {
      expect(withEmail(email)).toBeUndefined();
    },
  );

  it.each(['ä@example.com', 'a@bücher.example', 'a@-example.com', 'a@exa_mple.com', 'a b@example.com', 'a@b@c', ''])(
    'may not have the address %j',
    (email) => {
      expect(withEmail(email)).toEqual({ id: 'EMAIL-599BI', key: 'Errors.User.Email.Invalid' });
    },
  );
});
