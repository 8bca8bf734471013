// Decides what the absence of a value from a file means: the source lacks the value, or the file omits it.

import type { OrganisationRecord } from './record.ts';
import { type Credential, mayHaveOtpEmail, type Section } from './sections/section.ts';
import { type RecordState, usualState } from './states.ts';

/**
 * For each kind of value, whether a file without the value proves that the source lacks the value. If not, the file may
 * omit values that the source has.
 */
export interface StatedContent extends Readonly<Record<Credential['flag'], boolean>> {
  readonly otpEmail: boolean;
  /**
   * Whether a record without a state has the default state. Organisations and users have no default state, because
   * every export contains their states.
   */
  readonly states: boolean;
}

export const nothingStated: StatedContent = { withPasswords: false, withOtp: false, otpEmail: false, states: false };

/**
 * Lists the credentials that the source of a record lacks, according to the file.
 * @param has returns whether the file contains a credential of the record
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

/** Whether a missing OTP e-mail factor of a record in the section shows that the source lacks the factor too. */
export function statesOtpEmail(section: Section, stated: StatedContent): boolean {
  return stated.otpEmail && mayHaveOtpEmail(section);
}

/** Marks an unknown state as derived, if the manifest shows that a missing state means the default state. */
export function statedState(
  section: Section,
  state: RecordState | undefined,
  stated: StatedContent,
): RecordState | undefined {
  const isStated = state?.source === 'unknown' && stated.states && usualState(section) !== undefined;
  return isStated ? { ...state, source: 'derived' } : state;
}

/**
 * Adds to a record what its file proves: which credentials the source lacks, that the source lacks the OTP e-mail
 * factor too, or that a missing state is the default.
 */
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
