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
   * A trail in the database deletes events that are older than this number of milliseconds. If absent, it never deletes
   * events. Only a server has this setting, so a command never deletes events that the server would keep.
   */
  readonly auditRetentionMs?: number;
}

/** Opens the audit trail, which is a table in the database, or log lines if the database has no such table. */
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

export function systemAccount(): string {
  const { SUDO_USER: caller } = process.env;
  const isSudo = process.geteuid?.() === 0 && caller !== undefined && caller !== '';
  return isSudo ? `${ownAccount()} (sudo by ${caller.slice(0, MAX_RECORDED_CHARACTERS)})` : ownAccount();
}

function ownAccount(): string {
  try {
    return userInfo().username;
  } catch {
    // Fails in many containers, because their user id has no name.
    return `uid ${process.getuid?.()}`;
  }
}

/** By this label, Cloud Logging selects the lines of the audit trail, so that it can store them separately. */
const AUDIT_LABEL = { log_type: 'audit' };

/**
 * Creates an audit trail that writes log lines, which the platform's agent collects, in Cloud Logging's format. The log
 * level does not suppress these lines. An event counts as recorded when the operating system has accepted its line.
 * @param projectId the Google Cloud project that contains the traces
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
