import type { AuditEvent } from './auditEvent.ts';

/** The record of who did what. Its implementations are a file and the platform's log. */
export interface AuditTrail {
  /**
   * Appends an event; resolves when it is durable.
   * @throws IdentityError UNAVAILABLE when the event cannot be written
   */
  append(event: AuditEvent): Promise<void>;
  /** Waits for pending events, and releases the trail. */
  close(): Promise<void>;
}
