// Events of the audit trail, and their facts.

import { z } from 'zod';
import type { Transaction } from '../store/store.ts';

const textList = z.array(z.string()).readonly();

/** An object in Cloud Storage. Its generation is unknown until the call opens or writes the object. */
const auditedObject = z.strictObject({
  bucket: z.string(),
  path: z.string(),
  generation: z.string().optional(),
});

const event = z.object({
  time: z.iso.datetime(),
  /** The event's name, such as `export.started`. */
  event: z.string(),
  /** `started`, `ok`, or the code of an error. */
  outcome: z.string(),
  /** The caller; absent without a valid token. */
  userId: z.string().optional(),
  tokenId: z.string().optional(),
  /** The account of the operating system that ran a command. */
  account: z.string().optional(),
  remote: z.string().optional(),
  /** The user, token, file or deleted record that the operation affects. */
  target: z.string().optional(),
  /** The type of a deleted record, such as `human_user`. */
  type: z.string().optional(),
  /** The name of the user or the deleted record at the time of the event. */
  name: z.string().optional(),
  /** The first organisations, at most 20. */
  orgIds: textList.optional(),
  /** The number of organisations if `orgIds` does not list all. */
  orgCount: z.int().optional(),
  /** The options of the request or the command. */
  flags: textList.optional(),
  /** Present for a dry run, or for an export without organisations: neither has an effect. */
  trial: z.literal(true).optional(),
  object: auditedObject.optional(),
  /** The object to which the response redirects, in the instance's bucket for transfers. */
  transfer: auditedObject.optional(),
  /** SHA-256 of an imported file, or the digest in the manifest of an exported file. */
  digest: z.string().optional(),
  counts: z.record(z.string(), z.number()).optional(),
  /** The ids of the objects that a command created. */
  ids: z.record(z.string(), z.string()).optional(),
  requestId: z.string().optional(),
  /** The trace in Cloud Trace: 32 hexadecimal digits. */
  trace: z.string().optional(),
});

/** An event of the audit trail. It contains no secrets. */
export type AuditEvent = Readonly<z.output<typeof event>>;

export type AuditFacts = Omit<AuditEvent, 'time' | 'event' | 'outcome'>;

/** A stored event. Events of newer versions may contain further fields. */
export const auditEvent = event.loose().readonly();

export type Origin = Pick<AuditFacts, 'requestId' | 'remote' | 'trace'>;

/** An authenticated caller, even if the call is denied later; or the account that runs a command. */
export type Identity = Pick<AuditFacts, 'userId' | 'tokenId' | 'account'>;

/** The maximum number of organisations in an event. */
export const MAX_RECORDED_ORGANISATIONS = 20;
/** The maximum number of characters of a text in an event. */
export const MAX_RECORDED_CHARACTERS = 200;

/** Returns the facts about organisations: at most 20 ids, and the total number if there are more. */
export function organisationFacts(orgIds: readonly string[]): Pick<AuditFacts, 'orgIds' | 'orgCount'> {
  const listed = orgIds.slice(0, MAX_RECORDED_ORGANISATIONS).map((orgId) => orgId.slice(0, MAX_RECORDED_CHARACTERS));
  return { orgIds: listed, ...(listed.length < orgIds.length ? { orgCount: orgIds.length } : {}) };
}

/** Returns the facts to record about an object. Leaves out the account that reads or writes it. */
export function recordedObject(object: AuditFacts['object']): AuditFacts['object'] {
  return object && { bucket: object.bucket, path: object.path, generation: object.generation };
}

/** An audit trail: a table of the database, or the platform's log. */
export interface AuditTrail {
  /**
   * Appends an event, and resolves when the event is durable.
   * @throws IdentityError UNAVAILABLE if the event cannot be written
   */
  append(event: AuditEvent): Promise<void>;
  /** Adds an event to the commit of a transaction; absent if the trail is not in the database. */
  join?(event: AuditEvent, transaction: Transaction): void;
  /** Waits for pending events, and releases the trail. */
  close(): Promise<void>;
}
