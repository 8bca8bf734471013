import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ORGANISATION, sampleUser } from './sampleUsers.ts';

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
