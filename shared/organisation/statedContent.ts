// What it means that a value is absent in a file.

import type { OrganisationRecord } from './record.ts';
import { type Credential, mayHaveOtpEmail, type Section } from './section.ts';
import { type RecordState, usualState } from './states.ts';

/**
 * The kinds of values whose absence a file states: if absent, the source does not have them. Any other absent value is
 * unknown.
 */
export interface StatedContent extends Readonly<Record<Credential['flag'], boolean>> {
  readonly otpEmail: boolean;
  /** Whether a record without a state has the default state. */
  readonly states: boolean;
}

/** For a file that states nothing: any value may be absent. */
export const nothingStated: StatedContent = { withPasswords: false, withOtp: false, otpEmail: false, states: false };

/**
 * Lists the credentials that a record does not have, according to its file.
 * @param has whether the file has a credential of the record
 */
export function lackedCredentials(
  { credentials = [] }: Section,
  stated: StatedContent,
  has: (credential: Credential) => boolean,
): readonly Credential[] {
  return credentials.filter((credential) => stated[credential.flag] && !has(credential));
}

/** Whether a file states that records of a section without the OTP e-mail factor do not have it. */
export function statesOtpEmail(section: Section, stated: StatedContent): boolean {
  return stated.otpEmail && mayHaveOtpEmail(section);
}

/** Returns a record's state: if the manifest states it, an absent state is the default. */
export function statedState(
  section: Section,
  state: RecordState | undefined,
  stated: StatedContent,
): RecordState | undefined {
  const isStated = state?.source === 'unknown' && stated.states && usualState(section) !== undefined;
  return isStated ? { ...state, source: 'derived' } : state;
}

/** Adds to a record what the absence of its values means. */
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
