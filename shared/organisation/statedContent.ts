// What the absence of a value in a file means: the source lacks it, or it is unknown.

import type { OrganisationRecord } from './record.ts';
import { type Credential, mayHaveOtpEmail, type Section } from './sections/section.ts';
import { type RecordState, usualState } from './states.ts';

/**
 * The kinds of values that the source certainly lacks if its file lacks them. For all other values, absence means
 * unknown.
 */
export interface StatedContent extends Readonly<Record<Credential['flag'], boolean>> {
  readonly otpEmail: boolean;
  /** Whether a record without a state has the default state. */
  readonly states: boolean;
}

/** For a file whose missing values are all unknown. */
export const nothingStated: StatedContent = { withPasswords: false, withOtp: false, otpEmail: false, states: false };

/**
 * Lists the credentials that the source of a record certainly lacks, according to its file.
 * @param has whether the file has a credential of the record
 */
export function lackedCredentials(
  { credentials = [] }: Section,
  stated: StatedContent,
  has: (credential: Credential) => boolean,
): readonly Credential[] {
  let lacked = NOTHING_LACKED;
  for (const credential of credentials)
    if (stated[credential.flag] && !has(credential)) lacked = [...lacked, credential];
  return lacked;
}

const NOTHING_LACKED: readonly Credential[] = [];

/** Whether a file that lacks the OTP e-mail factor of a record of the section shows that the source lacks it too. */
export function statesOtpEmail(section: Section, stated: StatedContent): boolean {
  return stated.otpEmail && mayHaveOtpEmail(section);
}

/** Returns a record's state. If the manifest shows that absent states mean the default, returns the default. */
export function statedState(
  section: Section,
  state: RecordState | undefined,
  stated: StatedContent,
): RecordState | undefined {
  const isStated = state?.source === 'unknown' && stated.states && usualState(section) !== undefined;
  return isStated ? { ...state, source: 'derived' } : state;
}

/** Adds to a record which values its source certainly lacks. */
export function withStated(record: OrganisationRecord, stated: StatedContent): OrganisationRecord {
  const { section, credentials, clearPassword } = record;
  const lacks = lackedCredentials(
    section,
    stated,
    ({ field, clear }) => credentials[field] !== undefined || (clear !== undefined && clearPassword !== undefined),
  );
  const isWithoutFactor = record.otpEmail === undefined && statesOtpEmail(section, stated);
  const state = statedState(section, record.state, stated);
  if (lacks.length === 0 && !isWithoutFactor && state === record.state) return record;
  return {
    ...record,
    state,
    ...(lacks.length === 0 ? {} : { lacks }),
    ...(isWithoutFactor ? { otpEmail: false } : {}),
  };
}
