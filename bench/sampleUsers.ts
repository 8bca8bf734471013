import { hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readRecord } from '../shared/organisation/record.ts';
import { createWrites, planRecord } from '../shared/organisation/recordPlan.ts';
import { sections } from '../shared/organisation/sections.ts';
import type { Write } from '../shared/store/store.ts';

/** The organisation that all users are in. */
export const ORGANISATION = '340000000000000001';

const USERS_PER_PIECE = 200;
const firstNames = ['Alice', 'Bruno', 'Chloé', 'Dilan', 'Eszter', 'Faïza', 'Gunnar', 'Hana', 'Ivo', 'Jørgen', 'Kasia'];
const lastNames = ['Ångström', 'Baumgartner', 'Castellanos', 'Dubois', 'Eriksen', 'Ferrari', 'Grünwald', 'Horvát'];
const languages = ['de', 'en', 'fr', 'it', 'und'];

/** One element of `humanUsers` as an export of ZITADEL has it; each is different, and always the same for its number. */
export function sampleUser(number: number): Record<string, unknown> {
  const firstName = pick(firstNames, number);
  const lastName = pick(lastNames, number * 7);
  const email = `user.${number}@customer-${number % 977}.example`;
  const random = hash('sha512', `user ${number}`, 'base64');
  const more = number % 10 === 0;
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
      ...(more && { phone: { phone: `+4179${String(number).padStart(7, '0')}`, isPhoneVerified: true } }),
      hashedPassword: { value: `$2a$10$${random.replaceAll('+', '.').slice(0, 53)}` },
      ...(more && {
        otpCode: random
          .replaceAll(/[^A-Za-z2-7]/g, 'A')
          .toUpperCase()
          .slice(0, 32),
      }),
    },
    state: 'USER_STATE_ACTIVE',
  };
}

/** Writes an organisation document with `users` users to `file`. */
export async function writeSampleDocument(file: string, users: number): Promise<void> {
  await pipeline(Readable.from(sampleDocument(users)), createWriteStream(file));
}

function* sampleDocument(users: number): Generator<string> {
  yield `{"orgs":[{"orgId":"${ORGANISATION}","org":{"name":"Acme Robotics"},"humanUsers":[`;
  for (let at = 0; at < users; at += USERS_PER_PIECE) {
    const piece = Array.from({ length: Math.min(USERS_PER_PIECE, users - at) }, (_, index) => sampleUser(at + index));
    yield `${at === 0 ? '' : ','}${piece.map((user) => JSON.stringify(user)).join(',')}`;
  }
  yield ']}]}';
}

function pick(from: readonly string[], number: number): string {
  return from[number % from.length] ?? '';
}

/** A write as an import of new records makes it. */
export type CreateWrite = Extract<Write, { type: 'create' }>;

/** What an import of the sample document writes for its users: each one's document and claim, `size` writes a batch. */
export function sampleWrites(users: number, size: number): CreateWrite[][] {
  const batches: CreateWrite[][] = [];
  for (let at = 0; at < users; at += size / 2) {
    const numbers = Array.from({ length: Math.min(size / 2, users - at) }, (_, index) => at + index);
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
