import { hash } from 'node:crypto';

export const ORGANISATION = '340000000000000001';
const ROLE = 'viewer';

const names = 'Alice Chloé Eszter Jørgen Ольга Дмитрий Ελένη 美咲 伟 فاطمة आदित्य 지우 O’Brien Grünwald Παππάς'.split(
  ' ',
);

/**
 * Returns the id of a sample user. Of eight ids, six have the form of ZITADEL's ids, and two have forms of other
 * products.
 */
export function sampleId(number: number): string {
  if (number % 8 === 6) return `auth0|${number.toString(16).padStart(8, '0')}${digest(number).slice(0, 16)}`;
  if (number % 8 === 7) return `personnel/${number}@customer-${number % 977}.example`;
  return `33${String(number * 7919).padStart(16, '0')}`;
}

/**
 * Returns a user as ZITADEL's exports contain it, for the list `humanUsers`. The same number gives the same user in
 * every run. The names are in many scripts and unordered; the hashes are of several kinds. Ids mostly ascend, as in
 * real files.
 */
export function sampleUser(number: number): Record<string, unknown> & { readonly userId: string } {
  const [firstName = '', lastName = ''] = [number, number * 3 + 1].map((index) => names[index % names.length]);
  const random = digest(number);
  const email = `${random.slice(0, 6)}.${number}@customer-${number % 977}.example`;
  const isDetailed = number % 10 === 0;
  return {
    userId: sampleId(number),
    user: {
      userName: number % 7 === 0 ? `${firstName}.${lastName}.${number}` : email,
      profile: { firstName, lastName, displayName: `${firstName} ${lastName}`, preferredLanguage: 'de' },
      email: { email, isEmailVerified: true },
      ...(isDetailed ? { phone: { phone: `+4179${String(number).padStart(7, '0')}`, isPhoneVerified: true } } : {}),
      hashedPassword: { value: passwordHash(number, random) },
      ...(isDetailed
        ? {
            otpCode: random
              .slice(0, 32)
              .replaceAll(/[^a-f]/g, 'A')
              .toUpperCase(),
          }
        : {}),
    },
    state: 'USER_STATE_ACTIVE',
  };
}

function passwordHash(number: number, random: string): string {
  const [salt, result] = [random.slice(0, 22), random.slice(22, 53)];
  if (number % 4 === 2) return `$argon2id$v=19$m=65536,t=3,p=4$${salt}$${result}`;
  if (number % 4 === 3) return `$pbkdf2-sha256$600000$${salt}$${result}`;
  return `$2a$10$${salt}${result}`;
}

/** Returns 128 hexadecimal digits that look random but are the same in every run. */
function digest(number: number): string {
  return hash('sha512', `user ${number}`);
}

/**
 * Returns an import request with sample users, who have the OTP e-mail factor. A third of the users have a grant, and a
 * quarter have metadata.
 * @param organisations the number of organisations among which to divide the users; each has a project and a role
 */
export function importRequest(users: number, organisations = 1): Buffer<ArrayBuffer> {
  const perOrganisation = Math.ceil(users / organisations);
  const orgs = Array.from({ length: organisations }, (_, index) => {
    const first = index * perOrganisation;
    return sampleOrganisation(index, first, Math.min(first + perOrganisation, users));
  });
  return Buffer.from(JSON.stringify({ timeout: '10m', data_orgs: { orgs } }));
}

function sampleOrganisation(index: number, firstUser: number, endUser: number) {
  const numbers = Array.from({ length: endUser - firstUser }, (_, offset) => firstUser + offset);
  const projectId = String(350_000_000_000_000_000n + BigInt(index));
  return {
    orgId: String(BigInt(ORGANISATION) + BigInt(index)),
    org: { name: `Acme Robotics ${index}` },
    projects: [{ projectId, project: { name: 'Portal' } }],
    projectRoles: [{ projectId, roleKey: ROLE, displayName: ROLE }],
    humanUsers: numbers.map((number) => ({ ...sampleUser(number), otpEmail: true })),
    userGrants: numbers
      .filter((number) => number % 3 === 0)
      .map((number) => ({ userId: sampleId(number), projectId, roleKeys: [ROLE] })),
    userMetadata: numbers
      .filter((number) => number % 4 === 0)
      .map((number) => ({ id: sampleId(number), key: 'personnel-number', value: 'UC0xMjM0' })),
  };
}
