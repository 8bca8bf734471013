import type { Organisation } from './zitadelFixture.ts';

/** An organisation of an import, with what is given beside its id and name. */
export function organisation(orgId: string, fields: object = {}): Organisation {
  return { orgId, org: { name: `Organisation ${orgId}` }, ...fields };
}

/** A person of an import, valid by ZITADEL's rules, with what is given in place of the usual. */
export function person(userId: string, user: object = {}): { userId: string; user: object } {
  const usual = {
    userName: `name of ${userId}`,
    profile: { firstName: 'First', lastName: 'Last', displayName: 'First Last', preferredLanguage: 'en' },
    email: { email: 'first.last@example.com', isEmailVerified: true },
  };
  return { userId, user: { ...usual, ...user } };
}
