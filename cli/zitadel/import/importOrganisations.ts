import { fromJsonString, toJsonString } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import { AdminService } from '@zitadel/proto/zitadel/admin_pb.js';
import { z } from 'zod';
import { codes } from '../../../shared/errors/identityError.ts';
import { zitadelCallFailed, zitadelContextMissing, zitadelImportTooSlow } from '../../../shared/errors/placeErrors.ts';
import { parseIfJson } from '../../../shared/json/jsonObject.ts';
import { recordSections } from '../../../shared/organisation/sections.ts';
import { Backoff } from '../../../shared/retry.ts';
import { callError, messageIn, send, type ZitadelAnswer, type ZitadelConnection } from '../connection.ts';
import { callMethod, hasContext, isGatewayTimeout, rpcError } from '../rpc.ts';
import type { ImportPlan } from './importPlan.ts';
import { importSteps } from './importSteps.ts';
import { groupRecords, importBody, type OutgoingRecord, readStep, requestLimits } from './outgoingRecords.ts';

/** An entry of the `errors` of ZITADEL's import. */
export interface ImportError {
  readonly type: string;
  readonly id?: string | undefined;
  /** `ID=<id> Message=<key>`, in older releases with a tail. */
  readonly message: string;
}

/** How an error is to be taken. */
export type ErrorKind =
  /** A consequence of how ZITADEL imports: nothing is missing. */
  | 'expected'
  /** The record exists, and stays as it is: a comparison shows whether it is equal. */
  | 'existing'
  /** The record is missing, as what is left to do says. */
  | 'announced'
  /** The record is missing, or is not as it should be. */
  | 'real';

/** Learns the outcome of each record that is not left out of an import. */
export interface ImportObserver {
  onAnswer(records: readonly OutgoingRecord[], errors: readonly (ImportError & { readonly kind: ErrorKind })[]): void;
  /** A record of an organisation that the ZITADEL refused, and which is therefore not sent. */
  onRefused(record: OutgoingRecord): void;
}

/**
 * Imports an export file into a ZITADEL, in requests that it can take and in an order that it can follow. The file is
 * read once per step; memory holds one request.
 * @throws IdentityError for a ZITADEL that does not respond or denies the call
 */
export async function importOrganisations(
  connection: ZitadelConnection,
  plan: ImportPlan,
  observer: ImportObserver,
): Promise<void> {
  const sender = new ImportSender(connection);
  const { hostname } = new URL(connection.baseUrl);
  const refused = new Set<string>();
  for (const step of importSteps) {
    if (!plan.needs(step)) continue;
    const isInContext = step.inContext === true;
    async function* remaining(): AsyncGenerator<OutgoingRecord> {
      for await (const record of readStep(plan, step, connection.signal))
        if (refused.has(record.orgId)) observer.onRefused(record);
        else yield record;
    }
    for await (const group of groupRecords(remaining(), () => sender.limits, isInContext)) {
      for await (const answered of sender.send(group, isInContext ? group[0]?.orgId : undefined)) {
        const { records, errors, isRepeat } = answered;
        for (const error of errors) if (isRefusedOrganisation(error)) refused.add(error.id ?? '');
        const creates = new Set(records.filter(({ json }) => json.org !== undefined).map(({ orgId }) => orgId));
        const refusedLinks = new Set(records.flatMap(({ refusedLink }) => refusedLink ?? []));
        const facts = { isRepeat, creates, refusedLinks, host: hostname };
        observer.onAnswer(
          records,
          errors.map((error) => ({ ...error, kind: errorKind(error, facts) })),
        );
      }
    }
  }
}

const OTP_EXISTS = ['human_user_otp', 'COMMAND-do9se'] as const;
const ORGANISATION_CLAIMED = ['org', 'ORG-lapo2m'] as const;
/** The types and ids of ZITADEL's errors that say that the record exists (zitadel 5.7). */
const existing = new Set(
  [...recordSections.map(({ error: { type, exists } }) => [type, exists.id]), OTP_EXISTS, ORGANISATION_CLAIMED].map(
    (pair) => pair.join(' '),
  ),
);

/** What the command knows of the request that an error answers. */
export interface RequestFacts {
  /** Whether the request, or a part of it, was sent before without an answer. */
  readonly isRepeat: boolean;
  /** The organisations that the request was to create. Others exist, which is an error as well. */
  readonly creates: ReadonlySet<string>;
  /** The links whose identity provider the file lacks, so that ZITADEL has it only if somebody created it. */
  readonly refusedLinks: ReadonlySet<string>;
  /** The host of the target, of which ZITADEL makes each organisation's automatic domain. */
  readonly host: string;
}

/** Decides how an error of an import is to be taken. */
export function errorKind(error: ImportError, { isRepeat, creates, refusedLinks, host }: RequestFacts): ErrorKind {
  const { type, id = '', message } = error;
  // With the default policy, adding a domain verifies it, and verifying it once more fails.
  if (type === 'domain_isverified' && message.startsWith('ID=V3-DKcYh')) return 'expected';
  if (type === 'user_link' && message.startsWith('ID=COMMAND-39nf2') && refusedLinks.has(id)) return 'announced';
  if (!saysExisting(error)) return 'real';
  const isAutomaticDomain = type === 'domain' && id.endsWith(`.${host}`);
  return isRepeat || isAutomaticDomain || (type === 'org' && !creates.has(id)) ? 'expected' : 'existing';
}

function saysExisting({ type, message }: ImportError): boolean {
  const [, errorId = ''] = /^ID=(\S+)/.exec(message) ?? [];
  return existing.has(`${type} ${errorId}`);
}

/** Whether ZITADEL refuses an organisation, with all of its content. */
function isRefusedOrganisation(error: ImportError): boolean {
  return error.type === 'org' && !saysExisting(error);
}

interface AnsweredRequest {
  readonly records: readonly OutgoingRecord[];
  readonly errors: readonly ImportError[];
  /** Whether a part of it had been sent before without an answer. */
  readonly isRepeat: boolean;
}

const report = z.looseObject({
  errors: z
    .array(z.looseObject({ type: z.string(), id: z.string().optional(), message: z.string().default('') }))
    .default([]),
});

const call = { method: 'POST', path: '/admin/v1/import' } as const;
/** The time limit of one request, since gateways cut off after 60 s. */
const TIMEOUT_MS = 55_000;
/** ZITADEL answers at its timeout; this is for the way. */
const GRACE_MS = 10_000;
/** What ZITADEL has imported, its projections show after 2 s at most. */
const projected = { attempts: () => 12, initialDelayMs: 250, maxDelayMs: 2_000 };

/** The response of an import, as over REST. */
type ImportAnswer = Pick<ZitadelAnswer, 'status' | 'text' | 'attempts'>;

/**
 * A sender of import requests, which halves those that are too large or too slow. Requests may be repeated: a ZITADEL
 * reports the records that exist, and leaves them.
 */
class ImportSender {
  limits = requestLimits;
  private readonly connection: ZitadelConnection;

  constructor(connection: ZitadelConnection) {
    this.connection = connection;
  }

  /**
   * Sends records in one request, or in halves of it.
   * @param orgId the organisation in whose context ZITADEL handles the request
   */
  async *send(
    records: readonly OutgoingRecord[],
    orgId: string | undefined,
    wasBegun = false,
  ): AsyncGenerator<AnsweredRequest, void, void> {
    const answer = await this.attempt(records, orgId);
    const isRepeat = wasBegun || answer === undefined || answer.attempts > 1;
    const found = answer?.status === 200 ? report.safeParse(parseIfJson(answer.text)) : undefined;
    if (found?.success === true) return yield { records, errors: found.data.errors, isRepeat };
    const refusal = refusalBy(answer);
    if (refusal === 'other' && answer !== undefined) throw callError(this.connection, call, answer);
    const [first, second] = records;
    if (first !== undefined && second === undefined) {
      if (refusal === 'tooSlow') throw zitadelImportTooSlow(first.label, TIMEOUT_MS / 1_000);
      const [type = '', id] = first.label.split(' ');
      return yield { records, errors: [{ type, id, message: messageIn(answer?.text ?? '') }], isRepeat };
    }
    const middle = Math.ceil(records.length / 2);
    // The next requests would fail like this one. A single invalid record says nothing of them.
    if (refusal !== 'invalid') this.limits = { ...this.limits, records: Math.min(this.limits.records, middle) };
    yield* this.send(records.slice(0, middle), orgId, isRepeat || refusal === 'tooSlow');
    yield* this.send(records.slice(middle), orgId, isRepeat || refusal === 'tooSlow');
  }

  /** Returns a ZITADEL's answer, or undefined where it gave none in time. */
  private async attempt(
    records: readonly OutgoingRecord[],
    orgId: string | undefined,
  ): Promise<ImportAnswer | undefined> {
    const body = importBody(records, `${TIMEOUT_MS}ms`);
    const timeoutMs = TIMEOUT_MS + GRACE_MS;
    try {
      if (orgId === undefined) return await send(this.connection, { ...call, body, timeoutMs });
      await waitForContext(this.connection, orgId);
      return await importInContext(this.connection, body, { orgId, timeoutMs });
    } catch (error) {
      this.connection.signal.throwIfAborted();
      if (error instanceof DOMException && error.name === 'TimeoutError') return undefined;
      throw error;
    }
  }
}

/** Waits until a ZITADEL handles calls in the context of an organisation that it may not show yet. */
async function waitForContext(connection: ZitadelConnection, orgId: string): Promise<void> {
  const backoff = new Backoff(projected, connection.signal);
  while (!(await hasContext(connection, orgId)))
    if (!(await backoff.failed(undefined)))
      throw zitadelContextMissing(connection.baseUrl, orgId, 'it does not have the organisation that it has created');
}

/** Sends an import that ZITADEL handles in the context of an organisation. */
async function importInContext(
  connection: ZitadelConnection,
  body: string,
  options: { readonly orgId: string; readonly timeoutMs: number },
): Promise<ImportAnswer> {
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

/** Tells how an answer other than a report is to be taken. */
function refusalBy(answer: ImportAnswer | undefined): 'tooLarge' | 'tooSlow' | 'invalid' | 'other' {
  if (answer === undefined || answer.status === 504) return 'tooSlow';
  const message = messageIn(answer.text);
  if (answer.status === 429 && message.includes('received message larger than max')) return 'tooLarge';
  if (answer.status === 500 && message.includes('context deadline exceeded')) return 'tooSlow';
  return answer.status === 400 ? 'invalid' : 'other';
}
