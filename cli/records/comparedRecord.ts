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
 * A record in the form for comparisons. It contains digests of secrets, so that a comparison never stores or prints a
 * secret.
 */
export interface ComparedRecord {
  readonly key: Uint8Array;
  readonly section: string;
  readonly orgId: string;
  readonly id: string;
  readonly content: RecordContent;
}

/** The schema of the content that the run's database stores. */
export const recordContent = z.object({
  /** The record's canonical JSON, without its secrets. */
  body: z.string(),
  /** The digests of the secrets. The keys are the paths of the secret fields. */
  secrets: z.record(z.string(), z.string()),
  /**
   * Whether the person has the OTP e-mail factor. Absent if the export does not show this, or if the comparison leaves
   * out second factors.
   */
  otpEmail: z.boolean().exactOptional(),
  /** The state of the record. Absent if records of the section have no states. */
  state: z.object({ value: z.string(), source: z.enum(stateSources) }).exactOptional(),
  /**
   * The format of the password's hash, or `unknown`. Absent if there is no hash, or if the comparison leaves out
   * passwords.
   */
  hashFormat: z.string().exactOptional(),
  /** Present if ZITADEL's default settings can reject the person because of the password hash. */
  isHashRefused: z.literal(true).exactOptional(),
  /**
   * Present if the person has a TOTP seed that no authenticator app can use. Absent if the comparison leaves out seeds.
   */
  isSeedUnusable: z.literal(true).exactOptional(),
});

export interface RecordContent extends Readonly<z.infer<typeof recordContent>> {
  /**
   * Paths of secrets that the record certainly does not have. This is certain if the record's side exports all secrets
   * of a kind, and the record contains none.
   */
  readonly lacks?: readonly string[];
}

/**
 * Converts a record to the values that an import stores, with digests in place of the selected secrets. Leaves out the
 * project grant of a user grant, because the project and the organisation determine it. Does not convert the values of
 * an invalid record.
 * @returns undefined if imports ignore the record, or if the record is a key and the comparison leaves out keys
 */
export function comparedRecord(
  exportedRecord: OrganisationRecord,
  selection: SecretSelection,
): ComparedRecord | undefined {
  const { section, orgId } = exportedRecord;
  if (section.keys === true && !selection.withKeys) return undefined;
  const record =
    exportedRecord.invalid === undefined
      ? normaliseRecord(exportedRecord, section.completed?.field).record
      : exportedRecord;
  if (isGrantToItself(record)) return undefined;
  const id = documentPath(recordKey(record));
  const { body, otpEmail, state } = record;
  const isMoved = section.zitadel?.movesRecords === true;
  return {
    key: hash('sha256', JSON.stringify([section.name, isMoved ? '' : orgId, id]), 'buffer'),
    section: section.name,
    orgId,
    id: reportedId(exportedRecord) || orgId,
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
 * Paths of the fields that contain the name of a record. The path of an organisation's name is absent, because every
 * text about a record contains the name of its organisation anyway.
 */
const namePaths = ['user.userName', 'project.name', 'app.name'];

export function recordName({ body }: Pick<RecordContent, 'body'>): string | undefined {
  const record = parseObject(body);
  return namePaths.map((path) => textAt(record, path, '')).find((name) => name !== '');
}

export function comparedContent({ body, secrets, otpEmail, lacks, state }: RecordContent): ComparedContent {
  return { json: parseObject(body), secrets, otpEmail, lacks, state };
}

/**
 * Adds which values the record certainly does not have.
 * @param stated the kinds of values that the record's side exports completely
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
