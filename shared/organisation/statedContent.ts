// If a file lacks a value, either the source lacks the value too, or the export omitted it. This module decides which.

import type { OrganisationRecord } from './record.ts';
import { type Credential, mayHaveOtpEmail, type Section } from './sections/section.ts';
import { type RecordState, usualState } from './states.ts';

/**
 * For each kind of value: true if the source certainly lacks a value that the file lacks. If false, the source may have
 * the value.
 */
export interface StatedContent extends Readonly<Record<Credential['flag'], boolean>> {
  readonly otpEmail: boolean;
  /**
   * True if a record whose state is not in the file has the default state. Organisations and users have no default
   * state, because every export contains their states.
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

/**
 * True if the absence of the OTP e-mail factor from a record in the section proves that the source lacks the factor.
 */
export function statesOtpEmail(section: Section, stated: StatedContent): boolean {
  return stated.otpEmail && mayHaveOtpEmail(section);
}

/**
 * Returns a state whose source is `derived` instead of `unknown`, if the manifest shows that a state is missing only if
 * it is the default.
 */
export function statedState(
  section: Section,
  state: RecordState | undefined,
  stated: StatedContent,
): RecordState | undefined {
  const isStated = state?.source === 'unknown' && stated.states && usualState(section) !== undefined;
  return isStated ? { ...state, source: 'derived' } : state;
}

/**
 * Adds to a record what its file proves about missing content: that the source lacks certain credentials, that it lacks
 * the OTP e-mail factor, or that a missing state is the default state.
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
