import { z } from 'zod';
import type { Transaction } from '../store/store.ts';

const textList = z.array(z.string()).readonly();

/** An object in Cloud Storage. `generation` is absent if the call has neither opened nor written the object yet. */
const auditedObject = z.strictObject({
  bucket: z.string(),
  path: z.string(),
  generation: z.string().optional(),
});

const event = z.object({
  time: z.iso.datetime(),
  event: z.string(),
  /** The outcome: `started`, `ok`, or the code of an error. */
  outcome: z.string(),
  /** The caller's id; absent if the call has no valid token. */
  userId: z.string().optional(),
  tokenId: z.string().optional(),
  account: z.string().optional(),
  remote: z.string().optional(),
  /** What the operation affects: the id of a user, a token, a file or a deleted record. */
  target: z.string().optional(),
  /** The type of a deleted record, such as `human_user`. */
  type: z.string().optional(),
  name: z.string().optional(),
  /** The ids of the organisations that the call concerns, at most the first 20. */
  orgIds: textList.optional(),
  /** The total number of organisations; absent if `orgIds` lists all of them. */
  orgCount: z.int().optional(),
  /** The options that are set in the request or in the command. */
  flags: textList.optional(),
  /** Present if the call has no effect, as a dry run or an export without organisations. */
  trial: z.literal(true).optional(),
  object: auditedObject.optional(),
  /** The object to which the response redirects the client, in the instance's bucket for transfers. */
  transfer: auditedObject.optional(),
  /** For an import, SHA-256 of the file. For an export, the digest that the manifest of the exported file contains. */
  digest: z.string().optional(),
  counts: z.record(z.string(), z.number()).optional(),
  ids: z.record(z.string(), z.string()).optional(),
  requestId: z.string().optional(),
  /** The trace in Cloud Trace: 32 hexadecimal digits. */
  trace: z.string().optional(),
});

/** An event contains no secrets. */
export type AuditEvent = Readonly<z.output<typeof event>>;

export type AuditFacts = Omit<AuditEvent, 'time' | 'event' | 'outcome'>;

/** Accepts unknown fields, because events of newer versions of this service may contain further fields. */
export const auditEvent = event.loose().readonly();

export type Origin = Pick<AuditFacts, 'requestId' | 'remote' | 'trace'>;

/**
 * Who makes a call: an authenticated caller, or the account that runs a command. A caller is known even if the call is
 * denied after the authentication.
 */
export type Identity = Pick<AuditFacts, 'userId' | 'tokenId' | 'account'>;

export const MAX_RECORDED_ORGANISATIONS = 20;
export const MAX_RECORDED_CHARACTERS = 200;

export function organisationFacts(orgIds: readonly string[]): Pick<AuditFacts, 'orgIds' | 'orgCount'> {
  const listed = orgIds.slice(0, MAX_RECORDED_ORGANISATIONS).map((orgId) => orgId.slice(0, MAX_RECORDED_CHARACTERS));
  return { orgIds: listed, ...(listed.length < orgIds.length ? { orgCount: orgIds.length } : {}) };
}

export function recordedObject(object: AuditFacts['object']): AuditFacts['object'] {
  return object && { bucket: object.bucket, path: object.path, generation: object.generation };
}

export interface AuditTrail {
  /**
   * Appends an event, and resolves when the event is durable.
   * @throws IdentityError UNAVAILABLE if the event cannot be written
   */
  append(event: AuditEvent): Promise<void>;
  /**
   * Adds an event to the commit of a transaction, so that either both are stored or neither. Absent if the trail is not
   * in the database.
   */
  join?(event: AuditEvent, transaction: Transaction): void;
  close(): Promise<void>;
}
