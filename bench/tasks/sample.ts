import { hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readRecord } from '../../shared/organisation/record.ts';
import { createWrites, planRecord } from '../../shared/organisation/recordPlan.ts';
import { sections } from '../../shared/organisation/sections.ts';
import type { Write } from '../../shared/store/store.ts';

/** The organisation of the sample users in raw writes, and the first one of sample files. */
export const ORGANISATION = '340000000000000001';

const firstNames = ['Alice', 'Bruno', 'Chloé', 'Dilan', 'Eszter', 'Faïza', 'Gunnar', 'Hana', 'Ivo', 'Jørgen', 'Kasia'];
const lastNames = ['Ångström', 'Baumgartner', 'Castellanos', 'Dubois', 'Eriksen', 'Ferrari', 'Grünwald', 'Horvát'];
const languages = ['de', 'en', 'fr', 'it', 'und'];

/**
 * Returns one element of `humanUsers` as ZITADEL exports it. Each number has its own user, the same in every run. Ids
 * ascend, as those of real files do; names are in no order.
 */
export function sampleUser(number: number): Record<string, unknown> {
  const firstName = pick(firstNames, number);
  const lastName = pick(lastNames, number * 7);
  const random = hash('sha512', `user ${number}`, 'base64');
  const email = `${random.replaceAll(/[^a-z]/g, '').slice(0, 6)}.${number}@customer-${number % 977}.example`;
  const isDetailed = number % 10 === 0;
  return {
    userId: `33${String(number * 7919).padStart(16, '0')}`,
    user: {
      userName: email,
      profile: {
        firstName,
        lastName,
        displayName: `${firstName} ${lastName}`,
        preferredLanguage: pick(languages, number),
        gender: number % 2 === 0 ? 'GENDER_FEMALE' : 'GENDER_MALE',
      },
      email: { email, isEmailVerified: true },
      ...(isDetailed && { phone: { phone: `+4179${String(number).padStart(7, '0')}`, isPhoneVerified: true } }),
      hashedPassword: { value: `$2a$10$${random.replaceAll('+', '.').slice(0, 53)}` },
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

function pick(from: readonly string[], number: number): string {
  return from[number % from.length] ?? '';
}

/** A write that creates a document. */
export type CreateWrite = Extract<Write, { type: 'create' }>;

/** Returns the writes of an import of sample users: each user's document and claim, in batches of `size` writes. */
export function sampleWrites(users: number, size: number): CreateWrite[][] {
  const batches: CreateWrite[][] = [];
  for (let start = 0; start < users; start += size / 2) {
    const numbers = Array.from({ length: Math.min(size / 2, users - start) }, (_, index) => start + index);
    batches.push(numbers.flatMap(userWrites));
  }
  return batches;
}

function userWrites(number: number): CreateWrite[] {
  const section = sections.find(({ name }) => name === 'humanUsers');
  if (section === undefined) throw new Error('no section for users');
  const plan = planRecord(readRecord(section, sampleUser(number), ORGANISATION), false);
  return createWrites(plan, '2026-01-01T00:00:00.000000Z').filter((write) => write.type === 'create');
}

const USERS_PER_PIECE = 200;

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
    yield `${number === skipped ? '' : ','}${JSON.stringify(org).slice(0, -1)},"humanUsers":[`;
    yield* userPieces(number * users, users, withOtpEmail);
    yield ']}';
  }
  yield ']}';
}

/** Returns the id of an organisation; ids ascend. */
function organisationId(number: number): string {
  return String(BigInt(ORGANISATION) + BigInt(number));
}

function* userPieces(first: number, users: number, withOtpEmail: boolean): Generator<string> {
  for (let start = 0; start < users; start += USERS_PER_PIECE) {
    const piece = Array.from({ length: Math.min(USERS_PER_PIECE, users - start) }, (_, index) => {
      const user = sampleUser(first + start + index);
      return JSON.stringify(withOtpEmail ? { ...user, otpEmail: true } : user);
    });
    yield `${start === 0 ? '' : ','}${piece.join(',')}`;
  }
}
