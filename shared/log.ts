// Writes the log: lines of JSON as Cloud Logging expects them, or legible lines at a terminal.

import { pino } from 'pino';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

export type LogLevel = (typeof logLevels)[number];

const severities = new Map([
  ['debug', 'DEBUG'],
  ['info', 'INFO'],
  ['warn', 'WARNING'],
  ['error', 'ERROR'],
]);

const ignoreError = () => undefined;

let logStream: LogStream = process.stdout;
let writeLine: ((line: string) => void) | undefined;
let traceProject: string | undefined;

/**
 * Pass an error in the field `stack_trace`. The log line then contains the stack and the first line of the error's
 * message. Never log a token, a hash, a seed, a credential, a body, or a path with an id.
 */
export const log = pino(
  {
    base: null,
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ severity: severities.get(label) ?? 'DEFAULT' }) },
    serializers: { stack_trace: errorText },
  },
  {
    write(line) {
      writeLine ??= lossyWriter(logStream);
      writeLine(line);
    },
  },
);

interface LogStream {
  readonly isTTY?: boolean;
  readonly writableLength: number;
  write(text: string, done: (error?: Error | null) => void): unknown;
  on(event: 'error', listener: () => void): this;
  off(event: 'error', listener: () => void): this;
}

/**
 * The maximum number of bytes that may wait in the stream. Without a maximum, the lines for a pipe that is not read
 * would fill the memory.
 */
const PENDING_BYTES = 1_000_000;

/**
 * Writes log lines to a stream. A line is lost if the stream does not accept it, for example because the disk is full
 * or no process reads the pipe. Once the stream accepts lines again, writes how many lines were lost.
 */
function lossyWriter(stream: LogStream): (line: string) => void {
  let lost = 0;
  // Without a listener, an error of the stream would end the process. This listener does nothing, because the callback
  // of `write` handles the error.
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
  return (line) => write(line, 1);
}

/**
 * The message of each log line about a finished request. By this message, `legibleLine` recognises such a line, and
 * shortens it for a terminal.
 */
export const REQUEST_FINISHED = 'request finished';

type LogFields = Readonly<Record<string, unknown>> & {
  readonly 'logging.googleapis.com/labels'?: { readonly execution_id: string };
};

/**
 * Formats a log line for a terminal, such as `16:42:10 POST /admin/v1/export 200 12 ms`, followed by the request's id.
 */
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
 * Sets the level and the stream of the log. Lines are JSON unless the stream is a terminal.
 * @param project the Google Cloud project that stores traces; if absent, lines contain no trace
 */
export function configureLog(
  level: LogLevel,
  stream: LogStream = process.stdout,
  project: string | undefined = undefined,
): void {
  log.level = level;
  [logStream, writeLine] = [stream, undefined];
  traceProject = project;
}

export function traceField(project: string | undefined, trace: string | undefined): Record<string, string> {
  if (project === undefined || trace === undefined) return {};
  return { 'logging.googleapis.com/trace': `projects/${project}/traces/${trace}` };
}

/** Returns fields that are equal in all log lines of a request, so that Cloud Logging can find these lines. */
export function requestFields(requestId: string, trace?: string): Readonly<Record<string, unknown>> {
  return { 'logging.googleapis.com/labels': { execution_id: requestId }, ...traceField(traceProject, trace) };
}

const maxMessageLength = 300;

/**
 * Returns the text of an error for the log. Omits the message of a SyntaxError, because parsers quote their input in
 * this message.
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
