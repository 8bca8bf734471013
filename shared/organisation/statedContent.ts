// What a file states by the values that its records lack.

import type { OrganisationRecord } from './record.ts';
import { type Credential, mayHaveOtpEmail, type Section } from './section.ts';
import { type RecordState, usualState } from './states.ts';

/** The absent values that a file states: its source has none of them. Any other absent value is unknown. */
export interface StatedContent extends Readonly<Record<Credential['flag'], boolean>> {
  readonly otpEmail: boolean;
  /** Whether a record without a state has the usual one. */
  readonly states: boolean;
}

/** The statement of a file that may omit anything. */
export const nothingStated: StatedContent = { withPasswords: false, withOtp: false, otpEmail: false, states: false };

/**
 * Lists the credentials that a record does not have, as its file states.
 * @param has whether the file has a credential of the record
 */
export function lackedCredentials(
  { credentials = [] }: Section,
  stated: StatedContent,
  has: (credential: Credential) => boolean,
): readonly Credential[] {
  return credentials.filter((credential) => stated[credential.flag] && !has(credential));
}

/** Whether a file states the OTP e-mail factor of a section's records that lack it. */
export function statesOtpEmail(section: Section, stated: StatedContent): boolean {
  return stated.otpEmail && mayHaveOtpEmail(section);
}

/** Returns a record's state as its file states it: by the manifest, an absent state is the usual one. */
export function statedState(
  section: Section,
  state: RecordState | undefined,
  stated: StatedContent,
): RecordState | undefined {
  const isStated = state?.source === 'unknown' && stated.states && usualState(section) !== undefined;
  return isStated ? { ...state, source: 'derived' } : state;
}

/** Adds to a record what its file states by the values that the record lacks. */
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
