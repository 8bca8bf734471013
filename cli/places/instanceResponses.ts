import { z } from 'zod';
import {
  type ImportEvent,
  type ImportProgress,
  type ImportResponse,
  importEvent,
  importResponse,
  NDJSON,
} from '../../functions/import/contract.ts';
import { total } from '../../shared/collections/counts.ts';
import { type ErrorBody, type IdentityError, shortenedText } from '../../shared/errors/identityError.ts';
import {
  placeFailed,
  placeLost,
  placeRefused,
  placeTokenForbidden,
  placeTokenRejected,
  placeUnavailable,
  sourceInvalid,
} from '../../shared/errors/placeErrors.ts';
import { formatPath } from '../../shared/json/jsonError.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import { schemaIssueReason } from '../../shared/json/schemaIssue.ts';
import { isSameHolder } from '../../shared/store/lock/instanceLock.ts';
import { countSettled } from '../exports/importOutcomes.ts';
import type { DoneRecords, ImportMeter } from '../exports/placeInterfaces.ts';
import { gatewayError } from '../http/gatewayResponse.ts';
import { type HttpResponse, readErrorText, readText } from '../http/httpClient.ts';
import { laterError } from '../http/laterResponse.ts';
import { rejection } from '../http/serverErrors.ts';
import type { Server } from './calledServer.ts';

/**
 * The media types that the command accepts as the response to an import. The command prefers events, but older
 * instances can only respond with JSON.
 */
export const ACCEPT = `${NDJSON}, application/json;q=0.9`;

/**
 * The maximum size of a response or of an event. The largest real responses list 10,000 errors and warnings and 100,000
 * ids, and are much smaller.
 */
const MAX_RESPONSE_BYTES = 256_000_000;

/**
 * Reads the response to an import. The response contains either events with the progress and the result, or only the
 * result.
 * @throws IdentityError for a failed import, and if the connection breaks before the result
 */
export async function readImportResponse(
  server: Server,
  response: HttpResponse,
  meter: ImportMeter,
): Promise<ImportResponse> {
  const { headers, body } = response;
  const areEvents = headers['content-type']?.startsWith(NDJSON) === true;
  if (!areEvents) {
    const text = await readText(response, MAX_RESPONSE_BYTES);
    const { data } = importResponse.safeParse(parseIfJson(text));
    if (data === undefined) throw unlikeResponse(server, response, 'result of the import');
    return data;
  }
  const last = await readImportEvents(server, body, meter);
  if (last?.event === 'result') return last.response;
  if (last?.event === 'error') throw eventError(server, last.error);
  throw beforeResult(server, 'the last event of the response is missing');
}

export const CHECK_ADDRESS =
  'check that the address leads to the instance, and that no gateway replaces, cuts or changes responses, then repeat the command';

export function unlikeResponse({ name }: Server, { headers }: HttpResponse, expected: string): IdentityError {
  const problem = `returned no ${expected} (content type: ${headers['content-type'] ?? 'none'})`;
  return sourceInvalid({ place: name, problem, advice: CHECK_ADDRESS });
}

/** Reads a response with events. Returns undefined if no event contains the result or the error of the import. */
async function readImportEvents(
  server: Server,
  body: AsyncIterable<Uint8Array>,
  meter: ImportMeter,
): Promise<Exclude<ImportEvent, { event: 'progress' }> | undefined> {
  let settled: DoneRecords = { records: 0, total: 0 };
  let waitedFor: ImportProgress['waitingFor'];
  let isExcessKnown = false;
  const wait = (holder: ImportProgress['waitingFor']) => {
    const isKnown = holder && waitedFor ? isSameHolder(holder, waitedFor) : holder === waitedFor;
    waitedFor = holder;
    if (!isKnown) meter.onWait(holder);
  };
  try {
    for await (const line of lines(server, body)) {
      const event = parseEvent(server, line);
      if (event.event !== 'progress') return event;
      wait(event.waitingFor);
      if (event.exceedsTimeout !== undefined && !isExcessKnown) meter.onExcess(event.exceedsTimeout);
      isExcessKnown ||= event.exceedsTimeout !== undefined;
      settled = { ...countSettled(event.records), total: total(event.total) };
      meter.onPhase('importing', () => settled);
    }
    return undefined;
  } finally {
    wait(undefined);
  }
}

const SHOWN_CHARACTERS = 100;

/**
 * Parses an event. If the event is invalid, the error does not advise the user to repeat the command, because a
 * repeated import would probably send the same event.
 */
function parseEvent({ name: place }: Server, line: string): ImportEvent {
  const { data, error } = importEvent.safeParse(parseIfJson(line));
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const path = formatPath((issue?.path ?? []).map(String));
  const reason = [path, issue && schemaIssueReason(issue)].filter(Boolean).join(': ');
  throw sourceInvalid({
    place,
    problem: `returned no event of an import (${reason}), but ${shortenedText(line, SHOWN_CHARACTERS)}`,
    advice:
      'the import may be complete: compare the versions of the command and of the instance, and check that no gateway changes responses',
  });
}

/**
 * Yields the lines of a response. The last line can be long and arrive in many chunks, so this function joins the
 * chunks only at the end of a line.
 */
async function* lines(server: Server, body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield Buffer.concat([...parts, chunk.subarray(start, end)]).toString();
      [parts, size, start] = [[], 0, end + 1];
    }
    parts.push(chunk.subarray(start));
    size += chunk.byteLength - start;
    if (size > MAX_RESPONSE_BYTES) throw beforeResult(server, `an event has more than ${MAX_RESPONSE_BYTES} bytes`);
  }
}

const NEWLINE = 0x0a;

function beforeResult({ name: place }: Server, reason: string): IdentityError {
  return placeLost({ place, moment: 'before the result', reason });
}

const MAX_ERROR_BYTES = 1_000_000;
const MAX_MESSAGE_CHARACTERS = 500;
/**
 * The body of an error of an instance or of ZITADEL. The schema requires a gRPC code, because the error of a gateway
 * may have a message but has no such code.
 */
const describedError = z.looseObject({
  code: z.int().min(0).max(16),
  message: z.string(),
  details: z.array(z.unknown()).optional(),
});

/**
 * Functions that create the error for a response. The key is the name of the remedy that the error suggests: for
 * example, `token` suggests another token.
 */
const responseErrors = {
  token: (server: Server, reason: string, body: unknown) => placeTokenRejected(server.name, server, reason, body),
  role: ({ name, tokenOption }: Server, reason: string, body: unknown) =>
    placeTokenForbidden(name, tokenOption, reason, body),
  repeat: ({ name }: Server, reason: string, body: unknown) => placeFailed({ place: name, reason }, { cause: body }),
  later: ({ name }: Server, reason: string, body: unknown) =>
    placeUnavailable({ place: name, reason }, { cause: body }),
  correct: ({ name }: Server, reason: string, body: unknown) => placeRefused({ place: name, reason }, { cause: body }),
};
type ResponseErrorKind = keyof typeof responseErrors;

const errorKindOfStatus: Readonly<Record<number, ResponseErrorKind>> = {
  401: 'token',
  403: 'role',
};

/**
 * The remedy for each gRPC code: a key of `responseErrors`. The codes of `later` are DEADLINE_EXCEEDED, ABORTED and
 * UNAVAILABLE.
 */
const errorKindOfCode: Readonly<Record<number, ResponseErrorKind>> = {
  16: 'token',
  7: 'role',
  ...Object.fromEntries([1, 2, 8, 13].map((code) => [code, 'repeat' as const])),
  ...Object.fromEntries([4, 10, 14].map((code) => [code, 'later' as const])),
};

export async function responseError(server: Server, response: HttpResponse): Promise<IdentityError> {
  const text = await readErrorText(response, MAX_ERROR_BYTES);
  const { data } = describedError.safeParse(parseIfJson(text));
  if (data === undefined) return gatewayError(server.name, response, text);
  const { status } = response;
  const fault = errorKindOfStatus[status] ?? (status >= 500 ? 'repeat' : 'correct');
  const message = data.message.slice(0, MAX_MESSAGE_CHARACTERS);
  const reason = rejection({ message, details: data.details });
  return (
    laterError(response, { place: server.name, reason, cause: data }) ?? responseErrors[fault](server, reason, data)
  );
}

function eventError(server: Server, body: ErrorBody): IdentityError {
  const message = body.message.slice(0, MAX_MESSAGE_CHARACTERS);
  return responseErrors[errorKindOfCode[body.code] ?? 'correct'](server, rejection({ ...body, message }), body);
}
