// Sending the records of a ledger to a ZITADEL.

import { fromJsonString, toJsonString } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import { AdminService } from '@zitadel/proto/zitadel/admin_pb.js';
import { z } from 'zod';
import type { ImportError } from '../../../functions/import/contract.ts';
import { codes } from '../../../shared/errors/identityError.ts';
import { zitadelCallFailed, zitadelContextMissing, zitadelImportTooSlow } from '../../../shared/errors/placeErrors.ts';
import { parseIfJson } from '../../../shared/json/jsonObject.ts';
import { zitadelSteps } from '../../../shared/organisation/section.ts';
import { Backoff } from '../../../shared/retry.ts';
import { hasErrorId, reportsExisting } from '../errorIds.ts';
import type { FileLosses } from '../fileLosses.ts';
import { callMethod, hasContext, isGatewayTimeout, rpcError } from '../rpc.ts';
import {
  callError,
  isTimeout,
  MESSAGE_TOO_LARGE,
  messageIn,
  send,
  type ZitadelConnection,
  type ZitadelResponse,
} from '../zitadelConnection.ts';
import { recogniseZitadel } from '../zitadelInstance.ts';
import { SEED_TYPE } from './decisions.ts';
import type { ImportLedger, LedgerEntry } from './ledger.ts';
import { importBody, type OutgoingRecord, requestLimits, takeRequest } from './outgoingRecords.ts';

/**
 * Sends the records of a ledger to a ZITADEL, in requests below its limits and in the order of references, and settles them
 * by its responses. Memory holds one request.
 * @param losses the records that the ZITADEL cannot take
 * @param onSettled called after each request, before the next one is sent
 * @throws IdentityError for a ZITADEL that is unavailable or denies the call
 */
export async function sendLedger(
  connection: ZitadelConnection,
  ledger: ImportLedger,
  losses: FileLosses,
  onSettled: () => Promise<void>,
): Promise<void> {
  const sender = new ImportSender(connection, ledger);
  for (const step of zitadelSteps.keys()) {
    const isApart = step === stepInContext;
    const next = () => takeRequest(ledger.unsent(step), { records: sender.records, losses, isApart });
    for (let request = next(); request.length > 0; request = next()) {
      await sender.send(request, isApart ? request[0]?.orgId : undefined);
      await onSettled();
    }
  }
}

/** The texts of messages, which ZITADEL writes to the organisation in whose context it handles the request. */
const stepInContext = zitadelSteps.indexOf('message texts');

/** The types of errors about a part of a record, which exists without that part. */
const parts: Readonly<Record<string, readonly string[]>> = {
  human_user: [SEED_TYPE],
  domain: ['domain_isverified', 'domain_isprimary'],
};

/** The meaning of an import's error for a record. */
interface ReadError extends ImportError {
  /** `created` for a consequence of how ZITADEL imports: nothing is missing. */
  readonly outcome: 'created' | 'existing' | 'notCarried' | 'failed';
}

/** Facts about the request of an error. */
export interface RequestFacts {
  /** Whether the request, or a part of it, was sent before without a response. */
  readonly isRepeat: boolean;
  /** The host of the target, from which ZITADEL derives the automatic domains of organisations. */
  readonly host: string;
}

/**
 * Decides the meaning of an import's error.
 * @param record the record of the error; undefined if the request did not contain it
 */
export function readError(
  error: ImportError,
  record: Pick<OutgoingRecord, 'foreseen'> | undefined,
  { isRepeat, host }: RequestFacts,
): ReadError {
  const { type, id = '', message } = error;
  const as = (outcome: ReadError['outcome']) => ({ ...error, outcome });
  // With the default policy, adding a domain verifies it, and verifying it once more fails.
  if (type === 'domain_isverified' && hasErrorId(message, 'taken')) return as('created');
  // The file lacks the identity provider, which the manual steps list.
  if (type === 'user_link' && hasErrorId(message, 'noProvider') && record?.foreseen === 'notCarried')
    return as('notCarried');
  if (!reportsExisting(error)) return as('failed');
  const isAutomaticDomain = type === 'domain' && id.endsWith(`.${host}`);
  // ZITADEL also reports organisations that the request did not create as existing.
  return as(isRepeat || isAutomaticDomain || (type === 'org' && record === undefined) ? 'created' : 'existing');
}

function settleResponse(
  ledger: ImportLedger,
  records: readonly OutgoingRecord[],
  errors: readonly ImportError[],
  facts: RequestFacts,
): void {
  const pending = Map.groupBy(errors, ({ type, id = '' }) => `${type} ${id}`);
  // Of several records with one id, ZITADEL takes the first.
  for (const record of records.toReversed()) {
    const take = (type: string): ReadError[] => {
      const error = pending.get(`${type} ${record.id}`)?.pop();
      return error === undefined ? [] : [readError(error, record, facts)];
    };
    const [own] = take(record.type);
    const part = (parts[record.type] ?? []).flatMap(take).find(({ outcome }) => outcome !== 'created');
    ledger.enter(record, entryFor(record, own, part));
  }
  const others = [...pending.values()].flat().map((error) => readError(error, undefined, facts));
  for (const error of others) if (error.outcome !== 'created') ledger.addError(error);
  for (const { type, id = '', message } of errors)
    if (type === 'org' && !reportsExisting({ type, message })) ledger.refuse(id);
}

/**
 * Returns the ledger entry of a record by its errors.
 * @param own the error about the record
 * @param part the error about a part of it
 */
function entryFor({ foreseen }: OutgoingRecord, own: ReadError | undefined, part: ReadError | undefined): LedgerEntry {
  // Only the seed of this person was sent. ZITADEL reports each person as existing.
  if (foreseen === 'overwritten') {
    const error = [own, part].find((one) => one?.outcome === 'failed');
    return error ?? { outcome: part?.outcome === 'existing' ? 'unchanged' : 'overwritten' };
  }
  const outcome = own?.outcome ?? 'created';
  const error = own ?? part;
  return error?.outcome === 'failed' ? { ...error, outcome } : { outcome };
}

const importReport = z.looseObject({
  errors: z
    .array(z.looseObject({ type: z.string(), id: z.string().optional(), message: z.string().default('') }))
    .default([]),
});

const call = { method: 'POST', path: '/admin/v1/import' } as const;
/** The time limit of one request, because gateways cut off after 60 s. */
const TIMEOUT_MS = 55_000;
/** Extra time for the response that ZITADEL sends at its timeout. */
const ROUND_TRIP_MS = 10_000;
/** ZITADEL's projections show imported records after at most 2 s. */
const projected = { attempts: () => 12, initialDelayMs: 250, maxDelayMs: 2_000 };

/** The response of an import, as over REST. */
type RestResponse = Pick<ZitadelResponse, 'status' | 'text' | 'attempts'>;

/** A ZITADEL imports them in 2 s to 5 s. */
const FIRST_RECORDS = 500;

/**
 * A sender of import requests, which halves those that are too large or too slow. Requests may be repeated: a ZITADEL
 * reports the records that exist, and leaves them.
 */
class ImportSender {
  /** The number of records in the next request. Each full request doubles it. */
  records = FIRST_RECORDS;
  private most = requestLimits.records;
  /** The positions of records that were sent without a response. */
  private readonly begun = new Set<number>();
  private readonly connection: ZitadelConnection;
  private readonly ledger: ImportLedger;
  private readonly host: string;

  constructor(connection: ZitadelConnection, ledger: ImportLedger) {
    this.connection = connection;
    this.ledger = ledger;
    this.host = new URL(connection.origin).hostname;
  }

  /**
   * Sends records and settles them, or reduces the size of the next request.
   * @param orgId the organisation in whose context ZITADEL handles the request
   */
  async send(records: readonly OutgoingRecord[], orgId: string | undefined): Promise<void> {
    const response = await this.attempt(records, orgId);
    const isRepeat = (response?.attempts ?? 0) > 1 || records.some(({ position }) => this.begun.has(position));
    const found = response?.status === 200 ? importReport.safeParse(parseIfJson(response.text)) : undefined;
    if (found?.success === true) return this.settle(records, found.data.errors, isRepeat);
    const refusal = refusalBy(response);
    if (refusal === 'other' && response !== undefined) throw callError(this.connection, call, response);
    const [first, second] = records;
    if (first !== undefined && second === undefined) {
      const { type, id } = first;
      if (refusal === 'tooSlow') throw zitadelImportTooSlow(`${type} ${id}`, TIMEOUT_MS / 1_000);
      return this.settle(records, [{ type, id, message: messageIn(response?.text ?? '') }], isRepeat);
    }
    if (refusal === 'tooSlow') for (const { position } of records) this.begun.add(position);
    this.records = Math.ceil(records.length / 2);
    // Later requests of this size would fail too, unless a single invalid record was the reason.
    if (refusal !== 'invalid') this.most = this.records;
  }

  private settle(records: readonly OutgoingRecord[], errors: readonly ImportError[], isRepeat: boolean): void {
    settleResponse(this.ledger, records, errors, { isRepeat, host: this.host });
    if (records.length >= this.records) this.records = Math.min(2 * this.records, this.most);
  }

  /** Returns a ZITADEL's response; undefined after the time limit. */
  private async attempt(
    records: readonly OutgoingRecord[],
    orgId: string | undefined,
  ): Promise<RestResponse | undefined> {
    const body = importBody(records, `${TIMEOUT_MS}ms`);
    const timeoutMs = TIMEOUT_MS + ROUND_TRIP_MS;
    try {
      if (orgId === undefined) return await send(this.connection, { ...call, body, timeoutMs });
      await waitForContext(this.connection, orgId);
      return await importInContext(this.connection, body, { orgId, timeoutMs });
    } catch (error) {
      this.connection.signal.throwIfAborted();
      if (!isTimeout(error)) throw error;
      // Throws if the ZITADEL is unavailable, because a smaller request would not help.
      await recogniseZitadel(this.connection);
      return undefined;
    }
  }
}

/** Waits until a ZITADEL handles calls in the context of a new organisation. */
async function waitForContext(connection: ZitadelConnection, orgId: string): Promise<void> {
  const backoff = new Backoff(projected, connection.signal);
  while (!(await hasContext(connection, orgId)))
    if (!(await backoff.failed(undefined)))
      throw zitadelContextMissing(connection.origin, orgId, 'it does not have the organisation that it has created');
}

/** Sends an import that ZITADEL handles in the context of an organisation. */
async function importInContext(
  connection: ZitadelConnection,
  body: string,
  options: { readonly orgId: string; readonly timeoutMs: number },
): Promise<RestResponse> {
  const { importData } = AdminService.method;
  try {
    const { message, attempts } = await callMethod(
      connection,
      importData,
      fromJsonString(importData.input, body),
      options,
    );
    return { status: 200, text: toJsonString(importData.output, message), attempts };
  } catch (error) {
    const converted = rpcError(connection, importData, error);
    if (!(error instanceof ConnectError && zitadelCallFailed.is(converted))) throw converted;
    const { code, rawMessage } = error;
    if (isGatewayTimeout(error)) return { status: 504, text: rawMessage, attempts: 1 };
    const { httpStatus = 500 } = Object.values(codes).find(({ number }) => number === Number(code)) ?? {};
    return { status: httpStatus, text: JSON.stringify({ code, message: rawMessage }), attempts: 1 };
  }
}

/** Classifies a response that is no report. */
function refusalBy(response: RestResponse | undefined): 'tooLarge' | 'tooSlow' | 'invalid' | 'other' {
  if (response === undefined || response.status === 504) return 'tooSlow';
  const message = messageIn(response.text);
  if (response.status === 429 && message.includes(MESSAGE_TOO_LARGE)) return 'tooLarge';
  if (response.status === 500 && message.includes('context deadline exceeded')) return 'tooSlow';
  return response.status === 400 ? 'invalid' : 'other';
}
