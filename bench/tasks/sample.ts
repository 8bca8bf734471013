import { hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readRecord } from '../../shared/organisation/record.ts';
import { createWrites, planRecord } from '../../shared/organisation/recordPlan.ts';
import { findSection } from '../../shared/organisation/sections.ts';
import type { Write } from '../../shared/store/store.ts';

/** The organisation of the sample users in raw writes, and the first one of sample files. */
export const ORGANISATION = '340000000000000001';

const firstNames = words(
  'Alice Bruno Chloé Dilan Eszter Faïza Gunnar Jørgen Ольга Дмитрий Ελένη 美咲 伟 فاطمة आदित्य 지우',
);
const lastNames = words(
  'Ångström Baumgartner Castellanos Dubois O’Brien Grünwald Horvát Соколова Παππάς 佐藤 王 الحسن शर्मा 김',
);
const languages = words('de en fr it und ru el ja zh ar hi ko');
const roles = words('viewer editor admin');

/** Users of each remainder have ids of a form of their own, as those of other products have. */
const idForms: readonly ((number: number, random: string) => string)[] = [
  ...Array.from({ length: 5 }, () => (number: number) => `33${String(number * 7919).padStart(16, '0')}`),
  (number, random) => `${padded(number)}-${hex(random, 4)}-4${hex(random, 3)}-9${hex(random, 3)}-${hex(random, 12)}`,
  (number, random) => `auth0|${padded(number)}${hex(random, 16)}`,
  (number) => `personnel/${number}@customer-${number % 977}.example`,
];

const hashForms: readonly ((salt: string, hash: string) => string)[] = [
  ...Array.from({ length: 6 }, () => (salt: string, digest: string) => `$2a$10$${`${salt}${digest}`.slice(0, 53)}`),
  ...Array.from(
    { length: 2 },
    () => (salt: string, digest: string) => `$argon2id$v=19$m=65536,t=3,p=4$${salt}$${digest}`,
  ),
  (salt, digest) => `$pbkdf2-sha256$600000$${salt}$${digest}`,
  (salt, digest) => `$scrypt$ln=16,r=8,p=1$${salt}$${digest}`,
];

/**
 * Returns one element of `humanUsers` as ZITADEL exports it, of people as they are: ids of several forms, names in many
 * scripts, hashes of several kinds. Each number has its own user, the same in every run. Most ids ascend, as those of
 * real files do; names are in no order.
 */
export function sampleUser(number: number): Record<string, unknown> & { readonly userId: string } {
  const firstName = pick(firstNames, number);
  const lastName = pick(lastNames, number * 3);
  const random = randomText(number);
  const email = `${random.replaceAll(/[^a-z]/g, '').slice(0, 6)}.${number}@customer-${number % 977}.example`;
  const isDetailed = number % 10 === 0;
  return {
    userId: sampleId(number),
    user: {
      userName: number % 7 === 0 ? `${firstName}.${lastName}.${number}` : email,
      profile: {
        firstName,
        lastName,
        displayName: `${firstName} ${lastName}`,
        preferredLanguage: pick(languages, number),
        gender: number % 2 === 0 ? 'GENDER_FEMALE' : 'GENDER_MALE',
      },
      email: { email, isEmailVerified: true },
      ...(isDetailed && { phone: { phone: `+4179${String(number).padStart(7, '0')}`, isPhoneVerified: true } }),
      hashedPassword: { value: pick(hashForms, number)(random.slice(0, 22), random.slice(22, 65)) },
      ...(isDetailed && {
        otpCode: random
          .replaceAll(/[^A-Za-z2-7]/g, 'A')
          .toUpperCase()
          .slice(0, 32),
      }),
    },
    state: 'USER_STATE_ACTIVE',
  };
}

/** Returns the id of a sample user. */
export function sampleId(number: number): string {
  return pick(idForms, number)(number, randomText(number));
}

const hasGrant = (number: number) => number % 3 === 0;
const hasMetadata = (number: number) => number % 4 === 0;

function sampleGrant(number: number, projectId: string): Record<string, unknown> {
  return { userId: sampleId(number), projectId, roleKeys: roles.slice(0, 1 + (number % roles.length)) };
}

function sampleMetadata(number: number): Record<string, unknown> {
  return { id: sampleId(number), key: 'personnel-number', value: Buffer.from(`P-${number}`).toString('base64') };
}

function projectSections(projectId: string): string {
  const projectRoles = roles.map((roleKey) => ({ projectId, roleKey, displayName: roleKey }));
  const sections = { projects: [{ projectId, project: { name: 'Portal' } }], projectRoles };
  return JSON.stringify(sections).slice(1, -1);
}

/** Returns 86 characters that all forms of hashes allow. */
function randomText(number: number): string {
  return hash('sha512', `user ${number}`, 'base64').slice(0, 86).replaceAll('+', '/');
}

function hex(random: string, length: number): string {
  return Buffer.from(random)
    .toString('hex', 0, length / 2 + 1)
    .slice(0, length);
}

function padded(number: number): string {
  return number.toString(16).padStart(8, '0');
}

function words(text: string): readonly string[] {
  return text.split(' ');
}

function pick<Item>(from: readonly Item[], number: number): Item {
  const item = from[number % from.length];
  if (item === undefined) throw new Error('a list of samples is empty');
  return item;
}

/** A write that creates a document. */
export type CreateWrite = Extract<Write, { type: 'create' }>;

/**
 * Returns the writes of an import of sample users: each user's document and claim, then metadata and grants, in batches of
 * `size` writes.
 */
export function sampleWrites(users: number, size: number): CreateWrite[][] {
  const numbers = Array.from({ length: users }, (_, number) => number);
  const writes = [
    ...numbers.flatMap((number) => recordWrites('humanUsers', sampleUser(number))),
    ...numbers.filter(hasMetadata).flatMap((number) => recordWrites('userMetadata', sampleMetadata(number))),
    ...numbers.filter(hasGrant).flatMap((number) => recordWrites('userGrants', sampleGrant(number, projectId(0)))),
  ];
  return Array.from({ length: Math.ceil(writes.length / size) }, (_, index) =>
    writes.slice(index * size, (index + 1) * size),
  );
}

function recordWrites(sectionName: string, value: unknown): CreateWrite[] {
  const section = findSection(sectionName);
  if (section === undefined) throw new Error(`no section ${sectionName}`);
  const plan = planRecord(readRecord(section, value, ORGANISATION), false);
  return createWrites(plan, '2026-01-01T00:00:00.000000Z').filter((write) => write.type === 'create');
}

const RECORDS_PER_PIECE = 200;

/** The content of an export file of sample users. */
export interface SampleContent {
  /** The number of users in each organisation. */
  readonly users: number;
  /** By default 1. */
  readonly organisations?: number;
  /** The number of organisations in other files, whose organisations and users this one must not have. */
  readonly skipped?: number;
  /** Whether the users have the OTP e-mail factor. */
  readonly withOtpEmail?: boolean;
}

/** Writes an export file and returns its path. */
export async function writeSampleFile(file: string, content: SampleContent): Promise<string> {
  await pipeline(Readable.from(sampleFile(content)), createWriteStream(file));
  return file;
}

/** Yields an export file in pieces. */
export function* sampleFile({
  users,
  organisations = 1,
  skipped = 0,
  withOtpEmail = false,
}: SampleContent): Generator<string> {
  yield '{"orgs":[';
  for (let number = skipped; number < skipped + organisations; number++) {
    const org = { orgId: organisationId(number), org: { name: number === 0 ? 'Acme Robotics' : `Acme ${number}` } };
    yield `${number === skipped ? '' : ','}${JSON.stringify(org).slice(0, -1)},${projectSections(projectId(number))}`;
    const numbers = Array.from({ length: users }, (_, index) => number * users + index);
    const user = (one: number) => (withOtpEmail ? { ...sampleUser(one), otpEmail: true } : sampleUser(one));
    yield* listPieces('humanUsers', numbers, user);
    yield* listPieces('userGrants', numbers.filter(hasGrant), (one) => sampleGrant(one, projectId(number)));
    yield* listPieces('userMetadata', numbers.filter(hasMetadata), sampleMetadata);
    yield '}';
  }
  yield ']}';
}

/** Returns the id of an organisation; ids ascend. */
export function organisationId(number: number): string {
  return String(BigInt(ORGANISATION) + BigInt(number));
}

/** Returns the id of an organisation's project. */
function projectId(number: number): string {
  return `35${String(number).padStart(16, '0')}`;
}

function* listPieces(
  name: string,
  numbers: readonly number[],
  toRecord: (number: number) => object,
): Generator<string> {
  yield `,"${name}":[`;
  for (let start = 0; start < numbers.length; start += RECORDS_PER_PIECE) {
    const piece = numbers.slice(start, start + RECORDS_PER_PIECE).map((number) => JSON.stringify(toRecord(number)));
    yield `${start === 0 ? '' : ','}${piece.join(',')}`;
  }
  yield ']';
}
