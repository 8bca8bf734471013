import { type DestinationStream, type Logger, pino } from 'pino';

/** How much is logged; `silent` logs nothing. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** One of `logLevels`. */
export type LogLevel = (typeof logLevels)[number];

/** What a log line says about an answered request. Never more: no query, no body, no header, no path with an id in it. */
export interface RequestLine {
  readonly method: string;
  /** The route's pattern, such as `/v2/users/:userId/otp_email`; undefined where no route matched. */
  readonly route: string | undefined;
  readonly status: number;
  /** How an RPC was refused, which its HTTP status may not say; undefined where none was. */
  readonly rpcCode: string | undefined;
  readonly milliseconds: number;
  readonly requestId: string;
}

const severities = new Map([
  ['debug', 'DEBUG'],
  ['info', 'INFO'],
  ['warn', 'WARNING'],
  ['error', 'ERROR'],
]);

let logger = createLogger('info', process.stdout);

// The shape that Cloud Logging reads: severity, message, time, and labels under their long name.
function createLogger(level: LogLevel, stream: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ severity: severities.get(label) ?? 'DEFAULT' }) },
    },
    stream,
  );
}

/** Sets the level, and the stream that log lines go to: stdout unless told otherwise. */
export function configureLog(level: LogLevel, stream: DestinationStream = process.stdout): void {
  logger = createLogger(level, stream);
}

const labelled = (requestId: string) => ({ 'logging.googleapis.com/labels': { execution_id: requestId } });

/** Every line that this service logs. */
export const log = {
  requestFinished({ requestId, ...line }: RequestLine): void {
    const level = line.status >= 500 ? 'warn' : 'info';
    logger[level]({ ...line, ...labelled(requestId) }, 'request finished');
  },

  /** A fault of ours, with its stack; the caller is only told that there was one. */
  requestFailed(fault: unknown, requestId: string): void {
    logger.error({ stack_trace: describeError(fault), ...labelled(requestId) }, 'request failed');
  },

  /** An answer that broke off after its first bytes: the connection was cut so that nobody takes it for complete. */
  responseBroken(fault: unknown, requestId: string): void {
    logger.error({ stack_trace: describeError(fault), ...labelled(requestId) }, 'answer broken off');
  },

  listening(url: string): void {
    logger.info({ url }, 'listening');
  },

  shuttingDown(signal: string): void {
    logger.info({ signal }, 'shutting down');
  },

  /** `unfinished` counts the requests that the limit cut. */
  shutDown(unfinished: number): void {
    const level = unfinished === 0 ? 'info' : 'warn';
    logger[level]({ unfinished }, 'shut down');
  },
};

const longestMessage = 300;

/**
 * Describes a fault for the log: its name, the first line of its message, its code and its stack, then its cause.
 * A SyntaxError's message is left out, because parsers quote the input there.
 */
function describeError(fault: unknown): string {
  if (!(fault instanceof Error)) return `a thrown ${typeof fault}`;
  const cause = fault.cause instanceof Error ? `\nCaused by: ${describeError(fault.cause)}` : '';
  return [title(fault), ...frames(fault)].join('\n') + cause;
}

function title(fault: Error): string {
  const code = 'code' in fault ? ` [${String(fault.code)}]` : '';
  if (fault instanceof SyntaxError) return `${fault.name}${code}`;
  const [firstLine = ''] = fault.message.split('\n');
  return `${fault.name}${code}: ${firstLine.slice(0, longestMessage)}`;
}

function frames(fault: Error): string[] {
  const lines = (fault.stack ?? '').split('\n');
  return lines.filter((line) => /^ {4}at /.test(line));
}
