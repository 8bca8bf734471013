// Sends the records of a ledger to ZITADEL.

import { fromJsonString } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { AdminService } from '@zitadel/proto/zitadel/admin_pb.js';
import { zitadelContextMissing, zitadelImportTooSlow } from '../../../shared/errors/placeErrors.ts';
import { because, zitadelIssue } from '../../../shared/errors/recordIssues.ts';
import { claimsLoginNames, recordSection, recordSections } from '../../../shared/organisation/allSections.ts';
import { zitadelSteps } from '../../../shared/organisation/sections/section.ts';
import { Backoff } from '../../../shared/retry.ts';
import { errorIds, errorTexts, hasErrorId, reportsExisting } from '../errorIds.ts';
import { type OwnedFile, organisationText, withholdIfForeign } from '../ownership/withholding.ts';
import { callMethod, hasContext, isGatewayTimeout, rpcError } from '../rpc.ts';
import { isTimeout, plainMessage, type ZitadelConnection } from '../zitadelConnection.ts';
import { type EventTime, newestEvent, type ZitadelEvent } from '../zitadelEvents.ts';
import { recogniseZitadel } from '../zitadelInstance.ts';
import { findCreations, isInPlace } from './creations.ts';
import type { LedgerEntry, LedgerIssue } from './ledger.ts';
import { importBody, type OutgoingRecord, requestLimits, takeRequest } from './outgoingRecords.ts';

/**
 * Sends the records of a ledger to ZITADEL in requests below its limits, referenced records first. Stores the outcomes
 * of the records according to the responses. Only one request is in memory at a time.
 * @param callerId the user of the token
 * @param onSettled called after each request, before the next request
 * @throws IdentityError if ZITADEL is unavailable or denies the call
 */
export async function sendLedger(
  connection: ZitadelConnection,
  file: OwnedFile,
  callerId: string,
  onSettled: () => Promise<void>,
): Promise<void> {
  const { ledger, imports } = file;
  const sender = new ImportSender(connection, file, callerId);
  for (const step of zitadelSteps.keys()) {
    const isApart = step === stepInContext;
    const next = () => takeRequest(ledger.unsent(step), { records: sender.records, imports, isApart });
    for (let request = next(); request.length > 0; request = next()) {
      await sender.send(request, isApart ? request[0]?.orgId : undefined);
      await onSettled();
    }
  }
}

/**
 * The step that sends message texts. ZITADEL writes message texts to the organisation in whose context it handles the
 * request.
 */
const stepInContext = zitadelSteps.indexOf('message texts');

const partsByType = new Map(recordSections.map(({ error: { type, parts = [] } }) => [type, parts]));
const doneIds = new Map([...partsByType.values()].flat().map(({ type, done }) => [type, done]));

/** Whether an error about a part of a record means that the record already has the part. */
function hasPart({ type, message }: ZitadelError['issue']): boolean {
  const done = doneIds.get(type);
  return done !== undefined && hasErrorId(message, [done]);
}

const linkType = recordSection('userLinks').error.type;

/** The types of errors about records with login names. */
const loginNameTypes = new Set(recordSections.filter(claimsLoginNames).map(({ error }) => error.type));

/** An error in the response to an import: ZITADEL's message, with the type and the id of the record. */
interface ZitadelError {
  readonly id: string;
  readonly issue: LedgerIssue & Required<Pick<LedgerIssue, 'type' | 'message'>>;
}

/** An error in the response to an import, and what it means for the record. */
interface ReadError extends ZitadelError {
  /**
   * `created` if the record is complete despite the error, for example because it already has the part that the error
   * is about.
   */
  readonly outcome: 'created' | 'existing' | 'notCarried' | 'failed';
  /** Whether another import may have created the record at the same time. */
  readonly isDoubtful?: true;
}

/**
 * Decides the meaning of an import's error.
 * @param record the record of the error; undefined if the request did not contain it
 */
export function readError(error: ZitadelError, record: Pick<OutgoingRecord, 'foreseen'> | undefined): ReadError {
  const { type, message } = error.issue;
  const as = (outcome: ReadError['outcome']) => ({ ...error, outcome });
  if (hasPart(error.issue)) return as('created');
  // The file does not contain the link's identity provider. The list of manual steps contains the link.
  if (type === linkType && hasErrorId(message, errorIds.noProvider) && record?.foreseen === 'notCarried')
    return as('notCarried');
  // If two imports run at the same time, release 4 reports the existing user as a taken login name.
  if (loginNameTypes.has(type) && hasErrorId(message, errorIds.taken)) return { ...as('failed'), isDoubtful: true };
  if (!reportsExisting(error.issue)) return as('failed');
  // ZITADEL also reports an organisation as existing if the request only adds records to that organisation.
  return as(type === 'org' && record === undefined ? 'created' : 'existing');
}

/** A record that was sent, and its outcome according to the response. */
interface Answered {
  readonly record: OutgoingRecord;
  readonly entry: LedgerEntry;
  /** Whether another import may have created the record at the same time. */
  readonly isDoubtful: boolean;
}

/**
 * Assigns the errors of a response to the records. Returns the records' entries, and the errors that are not about a
 * record.
 */
function readResponse(
  records: readonly OutgoingRecord[],
  errors: readonly ZitadelError[],
): { readonly answered: readonly Answered[]; readonly others: readonly ReadError[] } {
  const pending = Map.groupBy(errors, ({ id, issue }) => `${issue.type} ${id}`);
  // If several records have the same id, ZITADEL imports the first, so an error belongs to the last.
  const answered = records.toReversed().map((record) => {
    const take = (type: string): ReadError[] => {
      const error = pending.get(`${type} ${record.id}`)?.pop();
      return error === undefined ? [] : [readError(error, record)];
    };
    const [own] = take(record.type);
    const ofParts = (partsByType.get(record.type) ?? []).flatMap((part) => take(part.type));
    return { record, entry: entryFor(record, own, ofParts), isDoubtful: own?.isDoubtful === true };
  });
  const others = [...pending.values()].flat().map((error) => readError(error, undefined));
  return { answered, others: others.filter(({ outcome }) => outcome !== 'created') };
}

/**
 * Returns the ledger entry of a record from its errors.
 * @param own the error about the record
 * @param ofParts the errors about parts of the record
 */
function entryFor(
  { foreseen }: OutgoingRecord,
  own: ReadError | undefined,
  ofParts: readonly ReadError[],
): LedgerEntry {
  // If the record failed, its parts failed too.
  const errors = own?.outcome === 'failed' ? [own] : ofParts.filter(({ outcome }) => outcome === 'failed');
  const issues = errors.map(({ issue }) => issue);
  if (foreseen !== 'overwritten') return { outcome: own?.outcome ?? 'created', issues };
  // The request contained only the seed of this person. ZITADEL reports each person as existing.
  if (issues.length > 0) return { outcome: 'failed', issues };
  return { outcome: ofParts.some(({ outcome }) => outcome === 'existing') ? 'unchanged' : 'overwritten' };
}

/** Returns the entry of a record, corrected by its creation event or by the lack of such an event. */
function confirmedEntry({ record, entry }: Answered, event: ZitadelEvent | undefined): LedgerEntry {
  // If several records have the same id, the event belongs to the first.
  if (entry.outcome === 'existing' && record.foreseen === 'notCarried') return entry;
  if (event !== undefined) return { ...entry, outcome: isInPlace(event, record) ? 'created' : 'failed' };
  return entry.outcome === 'created' ? { ...entry, outcome: 'sent' } : entry;
}

const { importData } = AdminService.method;
/** The maximum size of ZITADEL's messages. */
const MAX_MESSAGE = '4 MiB';
/** The time limit of one request, because gateways end calls after 60 s. */
const TIMEOUT_MS = 55_000;
/** Extra time for the response that ZITADEL sends at its timeout. */
const ROUND_TRIP_MS = 10_000;
/** The retries until ZITADEL's projections show imported records, which takes at most 2 s. */
const projected = { attempts: () => 12, initialDelayMs: 250, maxDelayMs: 2_000 };

/** The errors of an import, or the reason why ZITADEL rejected all of its records. */
type Answer = { readonly errors: readonly ZitadelError[] } | Refusal;

interface Refusal {
  readonly refusal: 'tooLarge' | 'tooSlow' | 'invalid';
  readonly message: string;
}

/** The number of records in the first request. ZITADEL imports them in 2 s to 5 s. */
const FIRST_RECORDS = 500;

/**
 * Sends import requests. Halves a request that is too large or too slow. Repeating a request is safe, because ZITADEL
 * reports existing records without changing them.
 */
class ImportSender {
  /** The number of records in the next request. Each full request doubles it. */
  records = FIRST_RECORDS;
  private most = requestLimits.records;
  /** By position, for each record whose request had no response: the time of the newest event before that request. */
  private readonly begun = new Map<number, EventTime>();
  /** The time of the newest event before the import. */
  private begunAt: EventTime | undefined;
  private readonly connection: ZitadelConnection;
  private readonly file: OwnedFile;
  private readonly callerId: string;
  private readonly host: string;

  constructor(connection: ZitadelConnection, file: OwnedFile, callerId: string) {
    this.connection = connection;
    this.file = file;
    this.callerId = callerId;
    this.host = new URL(connection.origin).hostname;
  }

  /**
   * Sends records and stores their outcomes, or reduces the size of the next request.
   * @param orgId the organisation in whose context ZITADEL handles the request
   */
  async send(records: readonly OutgoingRecord[], orgId: string | undefined): Promise<void> {
    const before = (await newestEvent(this.connection))?.createdAt ?? 0n;
    this.begunAt ??= before;
    const answer = await this.attempt(records, orgId);
    if ('errors' in answer) return await this.settle(records, answer.errors, before);
    const { refusal, message } = answer;
    const [first, second] = records;
    if (first !== undefined && second === undefined) {
      const { type, id } = first;
      if (refusal === 'tooSlow') throw zitadelImportTooSlow({ record: `${type} ${id}`, seconds: TIMEOUT_MS / 1_000 });
      const meaning =
        refusal === 'tooLarge'
          ? because('value_too_long', { field: 'the record', limit: MAX_MESSAGE })
          : because('value_invalid', { problem: message });
      return await this.settle(records, [{ id, issue: { type, message, ...meaning } }], before);
    }
    if (refusal === 'tooSlow')
      for (const { position } of records) if (!this.begun.has(position)) this.begun.set(position, before);
    this.records = Math.ceil(records.length / 2);
    // Later requests of this size would fail too, unless the reason was a single invalid record.
    if (refusal !== 'invalid') this.most = this.records;
  }

  /**
   * Returns the earliest time at which this import can have created a record; undefined if only the current request can
   * have created it.
   */
  private firstSent({ position, section, id }: OutgoingRecord): EventTime | undefined {
    const { records = [] } = recordSection(section).zitadel ?? {};
    const target = { isTarget: true, domains: [this.host] };
    const isAutomatic = records.some((fact) => fact.does === 'adds' && fact.when(id, target));
    return isAutomatic ? this.begunAt : this.begun.get(position);
  }

  /**
   * Stores the outcomes of records according to the response and to their creation events.
   * @param before the time of the newest event before the request
   */
  private async settle(
    records: readonly OutgoingRecord[],
    errors: readonly ZitadelError[],
    before: EventTime,
  ): Promise<void> {
    const { ledger, owners } = this.file;
    const { answered, others } = readResponse(records, errors);
    const isOpen = ({ entry: { outcome } }: Answered) => outcome === 'created' || outcome === 'existing';
    const expected = new Set(
      answered.filter(({ entry: { outcome } }) => outcome === 'created').map(({ record }) => record.position),
    );
    const begun = records.map((record) => this.firstSent(record) ?? before);
    const after = begun.reduce((first, time) => (time < first ? time : first), before);
    const creations = await findCreations(
      this.connection,
      answered.filter(isOpen).map(({ record }) => record),
      { callerId: this.callerId, after, isExpected: ({ position }) => expected.has(position) },
    );
    for (const one of answered) {
      const event = isOpen(one) ? creations.get(one.record.position) : undefined;
      ledger.enter(one.record, isOpen(one) ? confirmedEntry(one, event) : one.entry);
      if (event !== undefined && !isInPlace(event, one.record))
        ledger.addElsewhere(one.record.position, organisationText(owners, event.owner));
    }
    for (const { id, issue } of others) ledger.addError(id, issue);
    for (const { id, issue } of errors) if (issue.type === 'org' && !reportsExisting(issue)) ledger.refuse(id);
    await this.withhold(answered.filter(isOpen), creations);
    await this.settleDoubtful(answered.filter(({ isDoubtful }) => isDoubtful));
    if (records.length >= this.records) this.records = Math.min(2 * this.records, this.most);
  }

  /**
   * Another import has created some of these users. Stores them as existing, so that this import compares them with the
   * file at its end.
   */
  private async settleDoubtful(answered: readonly Answered[]): Promise<void> {
    if (answered.length === 0) return;
    const { ledger, owners } = this.file;
    const records = answered.map(({ record }) => record);
    const search = { callerId: undefined, after: owners.usersReadTo };
    const creations = await findCreations(this.connection, records, search);
    for (const record of records)
      if (creations.get(record.position)?.owner === record.orgId) ledger.enter(record, { outcome: 'existing' });
  }

  /**
   * Withholds records that refer to an id that another organisation took after the import had read the owners of ids.
   */
  private async withhold(answered: readonly Answered[], creations: ReadonlyMap<number, ZitadelEvent>): Promise<void> {
    const { ledger, owners } = this.file;
    // If an event is the first of its aggregate, no other record has the id.
    const isDoubtful = ({ record }: Answered) => {
      const event = creations.get(record.position);
      return event === undefined || event.sequence > 1n || !isInPlace(event, record);
    };
    const doubtful = answered.filter(isDoubtful).flatMap(({ record }) => ledger.document(record.position) ?? []);
    const unknown = doubtful.filter(({ path }) => owners.isClaimed(path));
    if (unknown.length === 0) return;
    await owners.refreshIds(
      this.connection,
      unknown.map(({ path }) => path),
    );
    for (const document of unknown) {
      const owner = withholdIfForeign(this.file, document);
      if (owner !== undefined && creations.has(document.position))
        ledger.addElsewhere(document.position, organisationText(owners, owner.orgId));
    }
    ledger.withholdDependents();
  }

  /** @throws IdentityError for an error that would also occur with smaller requests */
  private async attempt(records: readonly OutgoingRecord[], orgId: string | undefined): Promise<Answer> {
    const request = fromJsonString(importData.input, importBody(records, `${TIMEOUT_MS}ms`));
    const options = { orgId, timeoutMs: TIMEOUT_MS + ROUND_TRIP_MS };
    if (orgId !== undefined) await waitForContext(this.connection, orgId);
    try {
      const { message } = await callMethod(this.connection, importData, request, options);
      return {
        errors: message.errors.map(({ type, id, message: text }) => ({ id, issue: { type, ...zitadelIssue(text) } })),
      };
    } catch (error) {
      this.connection.signal.throwIfAborted();
      if (isTimeout(error)) {
        // Throws if ZITADEL is unavailable, because then a smaller request would not help.
        await recogniseZitadel(this.connection);
        return { refusal: 'tooSlow', message: '' };
      }
      const refused = refusalBy(error);
      if (refused === undefined) throw rpcError(this.connection, importData, error);
      return refused;
    }
  }
}

/** Waits until ZITADEL handles calls in the context of a new organisation. */
async function waitForContext(connection: ZitadelConnection, orgId: string): Promise<void> {
  const backoff = new Backoff(projected, connection.signal);
  while (!(await hasContext(connection, orgId)))
    if (!(await backoff.failed(undefined)))
      throw zitadelContextMissing({
        url: connection.origin,
        orgId,
        reason: 'ZITADEL reported the creation of this organisation, but does not find it',
      });
}

const INVALID: ReadonlySet<Code> = new Set([Code.InvalidArgument, Code.FailedPrecondition, Code.OutOfRange]);

/** Returns the reason why ZITADEL rejected a request; undefined for another error. */
function refusalBy(error: unknown): Refusal | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  const { code } = error;
  const message = plainMessage(error.rawMessage);
  if (code === Code.ResourceExhausted && message.includes(errorTexts.requestTooLarge))
    return { refusal: 'tooLarge', message };
  if (isGatewayTimeout(error) || message.includes(errorTexts.timedOut)) return { refusal: 'tooSlow', message };
  return INVALID.has(code) ? { refusal: 'invalid', message } : undefined;
}
