import { shuttingDown } from '../errors/httpErrors.ts';
import { log } from '../log.ts';
import type { AuditEvent, Origin } from './auditEvent.ts';
import { AuditedCall, type AuditSink, type CallEvents } from './auditedCall.ts';
import type { AuditTrail } from './auditTrail.ts';
import { DeniedCalls } from './deniedCalls.ts';

/** The events of the operations. A removal has one line: its success is on record before its commit. */
const operationEvents = {
  export: { begun: 'export.started', begunOutcome: 'started', ended: 'export.finished', denied: 'export.denied' },
  import: { begun: 'import.started', begunOutcome: 'started', ended: 'import.finished', denied: 'import.denied' },
  'otp-email': {
    begun: 'otpEmail.removed',
    begunOutcome: 'ok',
    ended: 'otpEmail.removed',
    denied: 'otpEmail.denied',
  },
} as const satisfies Readonly<Record<string, CallEvents>>;

/** An operation whose calls are on record. */
type AuditedOperation = keyof typeof operationEvents;

/** Puts calls on record in a trail. */
export class Audit {
  private readonly trail: AuditTrail;
  private readonly denied: DeniedCalls;
  private readonly sink: AuditSink;

  constructor(trail: AuditTrail, now: () => Date = () => new Date()) {
    this.trail = trail;
    const appendOrLog = async (event: AuditEvent) => {
      await trail.append(event).catch((error: unknown) => log.auditFailed(error, event));
    };
    this.denied = new DeniedCalls(appendOrLog, now);
    this.sink = {
      now,
      append: async (event) => {
        await trail.append(event).catch((error: unknown) => {
          log.auditFailed(error, event);
          throw error;
        });
      },
      appendOrLog,
      countDenied: (event) => this.denied.add(event),
      open: new Set(),
    };
  }

  /** Creates the record of an operation's call, which begins later. */
  call(operation: AuditedOperation, origin: Origin): AuditedCall {
    return new AuditedCall(this.sink, operationEvents[operation], origin);
  }

  /** Creates the record of a command, such as `pat create`. */
  command(name: string): AuditedCall {
    const event = commandEvent(name);
    return new AuditedCall(this.sink, { begun: event, begunOutcome: 'started', ended: event }, {});
  }

  /** Ends the calls that are still running at the end of the process, writes what is counted, and closes the trail. */
  async close(): Promise<void> {
    await Promise.all([...this.sink.open].map((call) => call.end(shuttingDown())));
    await this.denied.close();
    await this.trail.close();
  }
}

/** Returns the event of a command: `command.patCreate` for `pat create`. */
export function commandEvent(name: string): string {
  const camelCase = name.replace(/[ -]([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return `command.${camelCase}`;
}
