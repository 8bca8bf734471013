import type { Writable } from 'node:stream';
import { auditUnwritable } from '../errors/errors.ts';
import { traceField } from '../log.ts';
import type { AuditEvent } from './auditEvent.ts';
import type { AuditTrail } from './auditTrail.ts';

/** The label by which the sink of Cloud Logging selects the trail's lines. */
const LABEL = { log_type: 'audit' };

/**
 * Creates a trail of log lines in Cloud Logging's format. The platform's agent collects them; they are independent of the
 * log level. A line is on record when the operating system has taken it.
 * @param projectId the Google Cloud project of the traces
 */
export function createAuditLog(projectId: string, stream: Writable): AuditTrail {
  return {
    append: (event) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      stream.write(`${JSON.stringify(logLine(projectId, event))}\n`, (error) => {
        if (error) reject(auditUnwritable(error));
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
    'logging.googleapis.com/labels': { ...LABEL, ...(requestId === undefined ? {} : { execution_id: requestId }) },
    ...traceField(projectId, trace),
  };
}
