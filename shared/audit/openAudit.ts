import { userInfo } from 'node:os';
import type { Writable } from 'node:stream';
import { defined } from '../defined.ts';
import { auditUnwritable } from '../errors/storeErrors.ts';
import { traceField } from '../log.ts';
import type { StoreLocation } from '../store/openStore.ts';
import type { Store } from '../store/store.ts';
import { Audit } from './audit.ts';
import { type AuditEvent, type AuditTrail, MAX_RECORDED_CHARACTERS } from './auditEvent.ts';
import { createDatabaseTrail } from './databaseTrail.ts';

interface AuditOptions {
  readonly storeLocation: StoreLocation;
  /**
   * The age in milliseconds at which a trail in the database deletes its events; by default never. Only a serving
   * process has this setting, so that no command deletes events that the server keeps.
   */
  readonly auditRetentionMs?: number;
}

/**
 * Opens the audit trail of an instance: a table in its database, or log lines if the database has no such table.
 * @param stream receives the log lines
 */
export function openAudit(
  { trail }: Store,
  { storeLocation, auditRetentionMs }: AuditOptions,
  stream: Writable = process.stdout,
): Audit {
  if (trail !== undefined) return new Audit(createDatabaseTrail(trail, auditRetentionMs));
  const { projectId } = storeLocation;
  if (projectId === undefined) throw new Error('the database has no audit trail');
  return new Audit(createAuditLog(projectId, stream));
}

/**
 * Returns the account of the operating system that runs a command: its name, or its id if it has no name. Under sudo,
 * appends the account that called sudo.
 */
export function systemAccount(): string {
  const { SUDO_USER: caller } = process.env;
  const isSudo = process.geteuid?.() === 0 && caller !== undefined && caller !== '';
  return isSudo ? `${ownAccount()} (sudo by ${caller.slice(0, MAX_RECORDED_CHARACTERS)})` : ownAccount();
}

function ownAccount(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container, the user id may have no name.
    return `uid ${process.getuid?.()}`;
  }
}

/** The label by which the sink of Cloud Logging selects the log lines of the audit trail. */
const AUDIT_LABEL = { log_type: 'audit' };

/**
 * Creates a trail of log lines in Cloud Logging's format. The platform's agent collects the lines, which are written at
 * every log level. A line counts as recorded when the operating system has accepted it.
 * @param projectId the Google Cloud project of the traces
 */
export function createAuditLog(projectId: string, stream: Writable): AuditTrail {
  return {
    append: (event) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      stream.write(`${JSON.stringify(logLine(projectId, event))}\n`, (error) => {
        if (error) reject(auditUnwritable({}, { cause: error }));
        else resolve();
      });
      return promise;
    },
    close: async () => {},
  };
}

function logLine(projectId: string, { trace, ...event }: AuditEvent): Readonly<Record<string, unknown>> {
  const { requestId } = event;
  return {
    severity: 'NOTICE',
    ...event,
    message: `${event.event} ${event.outcome}`,
    'logging.googleapis.com/labels': {
      ...AUDIT_LABEL,
      ...defined({ execution_id: requestId }),
    },
    ...traceField(projectId, trace),
  };
}
