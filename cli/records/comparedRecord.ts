// The form of records for the comparison of two sides.

import { hash } from 'node:crypto';
import { z } from 'zod';
import { defined } from '../../shared/defined.ts';
import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import type { ComparedContent } from '../../shared/organisation/equality.ts';
import { hashVerification, isRefusedByDefault } from '../../shared/organisation/hashFormats.ts';
import { normaliseRecord } from '../../shared/organisation/normaliseRecord.ts';
import { isTotpSeed } from '../../shared/organisation/passwordRules.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import { isGrantToItself, recordKey, reportedId } from '../../shared/organisation/recordPlan.ts';
import type { Credential, Section } from '../../shared/organisation/sections/section.ts';
import {
  lackedCredentials,
  type StatedContent,
  statedState,
  statesOtpEmail,
} from '../../shared/organisation/statedContent.ts';
import { stateSources } from '../../shared/organisation/states.ts';
import { ORGANISATION_FIELD } from '../../shared/organisation/zitadelFacts.ts';
import { documentPath } from '../../shared/store/store.ts';
import type { SecretSelection } from './secretSelection.ts';

/**
 * A record in the form for comparisons. Digests replace its secrets, so that the comparison leaves no copy and no
 * output can contain them.
 */
export interface ComparedRecord {
  readonly key: Uint8Array;
  readonly section: string;
  readonly orgId: string;
  readonly id: string;
  readonly content: RecordContent;
}

/** The schema of a record's compared content, as a database stores it. */
export const recordContent = z.object({
  /** Canonical JSON without secrets. */
  body: z.string(),
  /** The digests of the secrets, by the paths of their fields. */
  secrets: z.record(z.string(), z.string()),
  /**
   * Whether the person has the OTP e-mail factor. Absent if the record does not state that, or if the comparison
   * excludes factors.
   */
  otpEmail: z.boolean().exactOptional(),
  /** Absent for a record of a section without states. */
  state: z.object({ value: z.string(), source: z.enum(stateSources) }).exactOptional(),
  /**
   * The format of the password's hash, or `unknown`. Absent without a hash, and if the comparison excludes passwords.
   */
  hashFormat: z.string().exactOptional(),
  /** Present for a hash that can make ZITADEL with default settings reject the person. */
  isHashRefused: z.literal(true).exactOptional(),
  /** Present for a TOTP seed that no authenticator app can use, if the comparison includes seeds. */
  isSeedUnusable: z.literal(true).exactOptional(),
});

/** The compared content of a record. */
export interface RecordContent extends Readonly<z.infer<typeof recordContent>> {
  /**
   * Paths of the secrets that the record certainly lacks, because the record's side exports every secret of these
   * kinds.
   */
  readonly lacks?: readonly string[];
}

/**
 * Returns the compared content of a record: its values as an import stores them, and the selected secrets. Omits the
 * project grant of a user grant, because the project and the organisation determine it. Keeps an invalid record
 * unchanged.
 * @returns undefined for a record that imports ignore, and for a key if the comparison excludes keys
 */
export function comparedRecord(given: OrganisationRecord, selection: SecretSelection): ComparedRecord | undefined {
  const { section, orgId } = given;
  if (section.keys === true && !selection.withKeys) return undefined;
  const record = given.invalid === undefined ? normaliseRecord(given, section.completed?.field).record : given;
  if (isGrantToItself(record)) return undefined;
  const id = documentPath(recordKey(record));
  const { body, otpEmail, state } = record;
  const isMoved = section.zitadel?.movesRecords === true;
  return {
    key: hash('sha256', JSON.stringify([section.name, isMoved ? '' : orgId, id]), 'buffer'),
    section: section.name,
    orgId,
    id: reportedId(given) || orgId,
    content: {
      body: isMoved ? JSON.stringify({ ...parseObject(body), [ORGANISATION_FIELD]: orgId }) : body,
      secrets: secretDigests(record, selection),
      ...(selection.withOtp && otpEmail !== undefined ? { otpEmail } : {}),
      ...defined({ state }),
      ...loginFacts(record, selection),
    },
  };
}

function loginFacts({ credentials }: OrganisationRecord, { withPasswords, withOtp }: SecretSelection) {
  const { passwordHash, totpSeed } = credentials;
  const hash = withPasswords ? passwordHash : undefined;
  const isUnusable = withOtp && totpSeed !== undefined && !isTotpSeed(totpSeed);
  return {
    ...(hash === undefined ? {} : { hashFormat: hashVerification(hash).format }),
    ...(hash !== undefined && isRefusedByDefault(hash) ? { isHashRefused: true as const } : {}),
    ...(isUnusable ? { isSeedUnusable: true as const } : {}),
  };
}

function secretDigests({ section, credentials, clearPassword }: OrganisationRecord, selection: SecretSelection) {
  const selected = (section.credentials ?? []).filter(({ flag }) => selection[flag]);
  const secrets = selected.flatMap(({ path, field, clear = '' }) => [
    [path, credentials[field]] as const,
    [clear, clear === '' ? undefined : clearPassword] as const,
  ]);
  const present = secrets.flatMap(([path, secret]) =>
    secret === undefined ? [] : [[path, hash('sha256', secret)] as const],
  );
  return Object.fromEntries(present);
}

/**
 * Paths of the fields that contain a record's name. `org.name` is not listed, because texts about a record contain the
 * name of its organisation anyway.
 */
const namePaths = ['user.userName', 'project.name', 'app.name'];

/** Returns the name of a record; undefined if it has no name. */
export function recordName({ body }: Pick<RecordContent, 'body'>): string | undefined {
  const record = parseObject(body);
  return namePaths.map((path) => textAt(record, path, '')).find((name) => name !== '');
}

/** Converts a record's content for the comparison of fields. */
export function comparedContent({ body, secrets, otpEmail, lacks, state }: RecordContent): ComparedContent {
  return { json: parseObject(body), secrets, otpEmail, lacks, state };
}

/**
 * Marks in a record's content the values that the record certainly lacks, according to the facts about the record's
 * side.
 */
export function statedRecordContent(section: Section, content: RecordContent, stated: StatedContent): RecordContent {
  const { secrets, otpEmail } = content;
  const has = ({ path, clear = path }: Credential) => secrets[path] !== undefined || secrets[clear] !== undefined;
  const lacks = lackedCredentials(section, stated, has).map(({ path }) => path);
  const state = statedState(section, content.state, stated);
  return {
    ...content,
    ...(lacks.length === 0 ? {} : { lacks }),
    ...(otpEmail === undefined && statesOtpEmail(section, stated) ? { otpEmail: false } : {}),
    ...defined({ state }),
  };
}
