import type { Body } from './action.ts';

const VALUE_BYTES = 300_000;

/** Describes an import of people without credentials, with metadata that fills the file to about this size. */
export function largeOrganisation(orgId: string, megabytes: number): Body {
  const people = Math.ceil((megabytes * 1_000_000) / ((VALUE_BYTES * 4) / 3));
  const value = Buffer.alloc(VALUE_BYTES, 'verify').toString('base64');
  const content = () => {
    const humanUsers = persons(orgId, people, {});
    const userMetadata = humanUsers.map(({ userId }) => ({ id: userId, key: 'verify', value }));
    return importBody({ orgId, org: { name: `Verify ${orgId}` }, humanUsers, userMetadata }, '10m');
  };
  return { shown: `organisation ${orgId} of ${megabytes} MB`, create: content };
}

/** Describes an import that takes long without costs: hashing a clear password takes about a quarter of a second. */
export function slowOrganisation(orgId: string, people: number, timeout: string): Body {
  const humanUsers = () => persons(orgId, people, { password: 'Verify-1-Cloud!' });
  const content = () => importBody({ orgId, org: { name: `Verify ${orgId}` }, humanUsers: humanUsers() }, timeout);
  return {
    shown: `${people} people with clear passwords in organisation ${orgId}, timeout ${timeout}`,
    create: content,
  };
}

/** Describes an import whose body has this size, and which is invalid otherwise. */
export function padding(bytes: number): Body {
  return { shown: `${bytes} bytes`, create: () => `{"data_orgs":{"orgs":[]}}`.padEnd(bytes) };
}

function persons(orgId: string, count: number, more: object) {
  return Array.from({ length: count }, (_, index) => {
    const name = `person-${index}`;
    const profile = { firstName: 'Person', lastName: `${index}`, displayName: name, preferredLanguage: 'en' };
    const email = { email: `${name}@${orgId}.example`, isEmailVerified: true };
    const user = { userName: `${name}-${orgId}`, profile, email, ...more };
    return { userId: `${orgId}${String(index).padStart(6, '0')}`, user, state: 'USER_STATE_ACTIVE' };
  });
}

function importBody(organisation: object, timeout: string): string {
  return JSON.stringify({ timeout, data_orgs: { orgs: [organisation] } });
}
