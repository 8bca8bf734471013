// The log: one function for each kind of line, and their rendering as JSON.

import { type DestinationStream, type Logger, pino } from 'pino';

/** The log levels; `silent` logs nothing. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** One of `logLevels`. */
export type LogLevel = (typeof logLevels)[number];

/** The log line of a finished request. It never contains a query, body, header, or path with an id. */
export interface RequestLine {
  /** A known method, or `other`. */
  readonly method: string;
  /** The route's pattern, such as `/v2/users/:userId/otp_email`; undefined if no route matched. */
  readonly route: string | undefined;
  readonly status: number;
  /** The error code of an RPC, which its HTTP status may not show; undefined if there was no error. */
  readonly rpcCode: string | undefined;
  readonly milliseconds: number;
  readonly requestId: string;
  /** The id of the trace that the request belongs to. */
  readonly trace?: string | undefined;
}

/** An event that could not be written to the audit trail. */
interface UnwrittenEvent {
  readonly event: string;
  readonly time: string;
  readonly requestId?: string | undefined;
}

const severities = new Map([
  ['debug', 'DEBUG'],
  ['info', 'INFO'],
  ['warn', 'WARNING'],
  ['error', 'ERROR'],
]);

const ignoreError = () => undefined;

let logger = createLogger('info', process.stdout);
let traceProject: string | undefined;

/** A stream for log lines, which may be a terminal. */
interface LogStream {
  readonly isTTY?: boolean;
  /** The number of bytes that wait to be written. */
  readonly writableLength: number;
  write(text: string, done: (error?: Error | null) => void): unknown;
  on(event: 'error', listener: () => void): this;
  off(event: 'error', listener: () => void): this;
}

/** The maximum number of waiting bytes. Otherwise a pipe without a reader would fill the memory. */
const PENDING_BYTES = 1_000_000;

/**
 * Writes lines to a stream. If the stream does not accept a line, for example because the disk is full or a pipe is not
 * read, the line is lost. After the next line that it accepts, writes the number of lost lines.
 */
function lossyDestination(stream: LogStream): DestinationStream {
  let lost = 0;
  // Without a listener, the error would end the process. The callback of `write` receives it as well.
  stream.off('error', ignoreError).on('error', ignoreError);
  const write = (line: string, represented: number) => {
    if (stream.writableLength > PENDING_BYTES) {
      lost += represented;
      return;
    }
    stream.write(stream.isTTY === true ? legibleLine(line) : line, (error) => {
      if (error) lost += represented;
      else if (lost > 0) writeLoss();
    });
  };
  const writeLoss = () => {
    const lines = lost;
    lost = 0;
    const fields = { severity: 'WARNING', time: new Date().toISOString(), lines, message: 'log lines lost' };
    write(`${JSON.stringify(fields)}\n`, lines);
  };
  return { write: (line) => write(line, 1) };
}

// Cloud Logging's format: severity, message, time, and labels under their long name. A terminal gets readable lines.
function createLogger(level: LogLevel, stream: LogStream): Logger {
  return pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ severity: severities.get(label) ?? 'DEFAULT' }) },
    },
    lossyDestination(stream),
  );
}

const REQUEST_FINISHED = 'request finished';

type LogFields = Readonly<Record<string, unknown>> & {
  readonly 'logging.googleapis.com/labels'?: { readonly execution_id: string };
};

/** Formats a log line for a person at a terminal, such as `16:42:10 POST /admin/v1/export 200 12 ms`, with its id. */
function legibleLine(line: string): string {
  const fields: LogFields = JSON.parse(line);
  const { severity, time, message, stack_trace: stack, 'logging.googleapis.com/labels': labels, ...others } = fields;
  const { method, route = '(no route)', status, rpcCode, milliseconds, ...rest } = others;
  const words =
    message === REQUEST_FINISHED
      ? [method, route, status, rpcCode, `${milliseconds} ms`]
      : [severity === 'INFO' ? undefined : severity, message, ...Object.entries(rest).flat()];
  const clock = new Date(String(time)).toTimeString().slice(0, 8);
  const text = [clock, ...words, labels?.execution_id].filter((word) => word !== undefined).join(' ');
  return `${[text, ...(stack === undefined ? [] : [stack])].join('\n').replace(/[^\P{C}\n]/gu, '?')}\n`;
}

/**
 * Sets the log level, and the stream for log lines, which are JSON unless it is a terminal; default stdout.
 * @param project the Google Cloud project of the traces in log lines; by default, log lines contain no trace
 */
export function configureLog(
  level: LogLevel,
  stream: LogStream = process.stdout,
  project: string | undefined = undefined,
): void {
  logger = createLogger(level, stream);
  traceProject = project;
}

/** Returns the field by which Cloud Logging groups the lines of a trace. */
export function traceField(project: string | undefined, trace: string | undefined): Record<string, string> {
  if (project === undefined || trace === undefined) return {};
  return { 'logging.googleapis.com/trace': `projects/${project}/traces/${trace}` };
}

const labelled = (requestId: string, trace?: string) => ({
  'logging.googleapis.com/labels': { execution_id: requestId },
  ...traceField(traceProject, trace),
});

/** The functions that log, one for each kind of line. */
export const log = {
  requestFinished({ requestId, trace, ...line }: RequestLine): void {
    const level = line.status >= 500 ? 'warn' : 'info';
    logger[level]({ ...line, ...labelled(requestId, trace) }, REQUEST_FINISHED);
  },

  /** Logs an internal error with its stack; the caller receives no details. */
  requestFailed(error: unknown, requestId: string, trace?: string): void {
    logger.error({ stack_trace: errorText(error), ...labelled(requestId, trace) }, 'request failed');
  },

  /**
   * Logs an error after the first bytes of a response. The response was aborted, so that no client mistakes it for
   * complete.
   */
  responseBroken(error: unknown, requestId: string, trace?: string): void {
    logger.error({ stack_trace: errorText(error), ...labelled(requestId, trace) }, 'response aborted');
  },

  /** Logs that an event is missing in the audit trail. Logs only the event's name, time and request id. */
  auditFailed(error: unknown, { event, time, requestId = '' }: UnwrittenEvent): void {
    logger.error({ event, event_time: time, stack_trace: errorText(error), ...labelled(requestId) }, 'audit failed');
  },

  /** Logs that SQLite's write-ahead log could not be moved into the database. The next commits retry. */
  checkpointFailed(error: unknown): void {
    logger.warn({ stack_trace: errorText(error) }, 'the write-ahead log was not moved into the database');
  },

  /** Logs that expired events of the audit trail were not deleted. The server retries an hour later. */
  retentionFailed(error: unknown): void {
    logger.warn({ stack_trace: errorText(error) }, 'expired events of the audit trail were not deleted');
  },

  listening(url: string): void {
    logger.info({ url }, 'listening');
  },

  /** Logs that other users could read a file with secrets. From now on, only its owner can. */
  fileProtected(file: string): void {
    logger.warn({ file }, 'others could read a file: its mode is now 0600');
  },

  /** Logs that the file of a failed export was not deleted. The bucket deletes it a day later. */
  transferKept(error: unknown, object: string): void {
    logger.warn({ object, stack_trace: errorText(error) }, 'the file of a failed export was not deleted');
  },

  /** Logs that a holder of the instance's lock could not renew it, so that another call may take it over. */
  lockNotRenewed(error: unknown): void {
    logger.warn({ stack_trace: errorText(error) }, 'the lock of the instance was not renewed');
  },

  /** Logs that the instance's lock was not released: other calls wait until it expires. */
  lockNotReleased(error: unknown): void {
    logger.warn({ stack_trace: errorText(error) }, 'the lock of the instance was not released');
  },

  shuttingDown(signal: string): void {
    logger.info({ signal }, 'shutting down');
  },

  /** `unfinished` is the number of requests that were aborted at the time limit. */
  shutDown(unfinished: number): void {
    const level = unfinished === 0 ? 'info' : 'warn';
    logger[level]({ unfinished }, 'shut down');
  },
};

const maxMessageLength = 300;

/**
 * Describes an error for the log: its name, the first line of its message, its code and its stack, then its cause.
 * A SyntaxError's message is omitted, because parsers quote the input in it.
 */
function errorText(error: unknown): string {
  if (!(error instanceof Error)) return `a thrown ${typeof error}`;
  const cause = error.cause instanceof Error ? `\nCaused by: ${errorText(error.cause)}` : '';
  return [title(error), ...frames(error)].join('\n') + cause;
}

function title(error: Error): string {
  const code = 'code' in error ? ` [${String(error.code)}]` : '';
  if (error instanceof SyntaxError) return `${error.name}${code}`;
  const [firstLine = ''] = error.message.split('\n');
  return `${error.name}${code}: ${firstLine.slice(0, maxMessageLength)}`;
}

function frames(error: Error): string[] {
  const lines = (error.stack ?? '').split('\n');
  return lines.filter((line) => /^ {4}at /.test(line));
}
