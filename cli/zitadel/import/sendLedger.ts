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
 * Sends records after the records to which they refer. Each request stays below ZITADEL's limits, and only one request
 * is in memory at a time.
 * @param onSettled called after each request, before the next request
 * @throws IdentityError if ZITADEL is unavailable, or does not permit the import
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
 * The position of message texts in the order of sending. Their requests need the header that selects an organisation,
 * because ZITADEL writes the texts into the selected organisation.
 */
const stepInContext = zitadelSteps.indexOf('message texts');

const partsByType = new Map(recordSections.map(({ error: { type, parts = [] } }) => [type, parts]));
const doneIds = new Map([...partsByType.values()].flat().map(({ type, done }) => [type, done]));

function hasPart({ type, message }: ZitadelError['issue']): boolean {
  const done = doneIds.get(type);
  return done !== undefined && hasErrorId(message, [done]);
}

const linkType = recordSection('userLinks').error.type;

const loginNameTypes = new Set(recordSections.filter(claimsLoginNames).map(({ error }) => error.type));

interface ZitadelError {
  readonly id: string;
  readonly issue: LedgerIssue & Required<Pick<LedgerIssue, 'type' | 'message'>>;
}

interface ReadError extends ZitadelError {
  /**
   * `created` means that the record is complete although ZITADEL reports an error. For example, ZITADEL reports that
   * the record already has a part, such as a second factor.
   */
  readonly outcome: 'created' | 'existing' | 'notCarried' | 'failed';
  /** Present if the record may exist because a simultaneous import has created it. */
  readonly isDoubtful?: true;
}

/** @param record the record that the error is about. Undefined if the request did not contain this record */
export function readError(error: ZitadelError, record: Pick<OutgoingRecord, 'foreseen'> | undefined): ReadError {
  const { type, message } = error.issue;
  const as = (outcome: ReadError['outcome']) => ({ ...error, outcome });
  if (hasPart(error.issue)) return as('created');
  // The file does not contain the link's identity provider either. So ZITADEL's report is no error. The list of manual
  // steps contains the link.
  if (type === linkType && hasErrorId(message, errorIds.noProvider) && record?.foreseen === 'notCarried')
    return as('notCarried');
  // If two imports create a user at the same time, release 4 of ZITADEL reports to one of the imports that the login
  // name is taken.
  if (loginNameTypes.has(type) && hasErrorId(message, errorIds.taken)) return { ...as('failed'), isDoubtful: true };
  if (!reportsExisting(error.issue)) return as('failed');
  // If a request adds records to an existing organisation, the request also contains the organisation itself. ZITADEL
  // reports the organisation as existing, which is no error.
  return as(type === 'org' && record === undefined ? 'created' : 'existing');
}

interface Answered {
  readonly record: OutgoingRecord;
  readonly entry: LedgerEntry;
  readonly isDoubtful: boolean;
}

/** Returns a ledger entry for each record, and the errors that belong to no record. */
function readResponse(
  records: readonly OutgoingRecord[],
  errors: readonly ZitadelError[],
): { readonly answered: readonly Answered[]; readonly others: readonly ReadError[] } {
  const pending = Map.groupBy(errors, ({ id, issue }) => `${issue.type} ${id}`);
  // If a request contains several records with the same id, ZITADEL imports the first, and reports errors for the later
  // ones. So this code assigns the errors to the records from last to first.
  const answered = records.toReversed().map((record) => {
    const take = (type: string): ReadError[] => {
      const error = pending.get(`${type} ${record.id}`)?.pop();
      return error === undefined ? [] : [readError(error, record)];
    };
    const [ownError] = take(record.type);
    const ofParts = (partsByType.get(record.type) ?? []).flatMap((part) => take(part.type));
    return { record, entry: entryFor(record, ownError, ofParts), isDoubtful: ownError?.isDoubtful === true };
  });
  const others = [...pending.values()].flat().map((error) => readError(error, undefined));
  return { answered, others: others.filter(({ outcome }) => outcome !== 'created') };
}

/**
 * @param ownError the error about the record itself
 * @param ofParts the errors about its parts, such as a second factor
 */
function entryFor(
  { foreseen }: OutgoingRecord,
  ownError: ReadError | undefined,
  ofParts: readonly ReadError[],
): LedgerEntry {
  // If the record itself has failed, the errors about its parts add no information, so they are left out.
  const errors = ownError?.outcome === 'failed' ? [ownError] : ofParts.filter(({ outcome }) => outcome === 'failed');
  const issues = errors.map(({ issue }) => issue);
  if (foreseen !== 'overwritten') return { outcome: ownError?.outcome ?? 'created', issues };
  // `overwritten` means that the request contains an existing person only to add the TOTP seed. ZITADEL then reports
  // the person as existing, which is no error.
  if (issues.length > 0) return { outcome: 'failed', issues };
  return { outcome: ofParts.some(({ outcome }) => outcome === 'existing') ? 'unchanged' : 'overwritten' };
}

/** @param event the creation event; undefined if the search found no event */
function confirmedEntry({ record, entry }: Answered, event: ZitadelEvent | undefined): LedgerEntry {
  // If several records of the file have the same id, the event is about the first of them. A later record with this id
  // keeps its outcome.
  if (entry.outcome === 'existing' && record.foreseen === 'notCarried') return entry;
  if (event !== undefined) return { ...entry, outcome: isInPlace(event, record) ? 'created' : 'failed' };
  return entry.outcome === 'created' ? { ...entry, outcome: 'sent' } : entry;
}

const { importData } = AdminService.method;
const MAX_MESSAGE = '4 MiB';
/** The time limit of a request in ZITADEL. Gateways end calls after 60 s. */
const TIMEOUT_MS = 55_000;
/** How much longer than ZITADEL's time limit the command waits for the response. */
const ROUND_TRIP_MS = 10_000;
/** ZITADEL's searches show imported records after at most 2 s. */
const projected = { attempts: () => 12, initialDelayMs: 250, maxDelayMs: 2_000 };

type Answer = { readonly errors: readonly ZitadelError[] } | Refusal;

interface Refusal {
  readonly refusal: 'tooLarge' | 'tooSlow' | 'invalid';
  readonly message: string;
}

/** The number of records in the first request. ZITADEL imports this many records in 2 s to 5 s. */
const FIRST_RECORDS = 500;

/**
 * Sends the requests of an import. If a request is too large or too slow, the next request contains half as many
 * records. Records can safely be sent again, because ZITADEL reports existing records and does not change them.
 */
class ImportSender {
  /** The number of records in the next request. After each full request it doubles, up to `most`. */
  records = FIRST_RECORDS;
  private most = requestLimits.records;
  /**
   * Records that ZITADEL may have created, although their request was too slow. The key is the position of the record
   * in the ledger. The value is the time of the newest event before that request.
   */
  private readonly begun = new Map<number, EventTime>();
  /** The time of the newest event from before the import's first request. */
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
   * Sends a request and stores the outcomes of its records. If ZITADEL rejects the whole request, makes the next
   * request smaller instead.
   * @param orgId the organisation that the request's header selects; undefined for none
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
    // If a request fails because of an invalid record, other requests of the same size can succeed. If it is too large
    // or too slow, other requests of the same size would fail as well.
    if (refusal !== 'invalid') this.most = this.records;
  }

  /**
   * Returns the earliest time at which this import may have created the record. Returns undefined if only the current
   * request can have created it.
   */
  private firstSent({ position, section, id }: OutgoingRecord): EventTime | undefined {
    const { records = [] } = recordSection(section).zitadel ?? {};
    const target = { isTarget: true, domains: [this.host] };
    const isAutomatic = records.some((fact) => fact.does === 'adds' && fact.when(id, target));
    return isAutomatic ? this.begunAt : this.begun.get(position);
  }

  /**
   * Stores the outcomes of the records. The outcomes follow from the response and from the records' creation events.
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
    for (const answer of answered) {
      const event = isOpen(answer) ? creations.get(answer.record.position) : undefined;
      ledger.enter(answer.record, isOpen(answer) ? confirmedEntry(answer, event) : answer.entry);
      if (event !== undefined && !isInPlace(event, answer.record))
        ledger.addElsewhere(answer.record.position, organisationText(owners, event.owner));
    }
    for (const { id, issue } of others) ledger.addError(id, issue);
    for (const { id, issue } of errors) if (issue.type === 'org' && !reportsExisting(issue)) ledger.refuse(id);
    await this.withhold(answered.filter(isOpen), creations);
    await this.settleDoubtful(answered.filter(({ isDoubtful }) => isDoubtful));
    if (records.length >= this.records) this.records = Math.min(2 * this.records, this.most);
  }

  /**
   * Another import may have created some of these users. They get the outcome `existing`, so that this import compares
   * them with the file at its end.
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

  /** Excludes records from the import if they refer to an id that another organisation has taken during the import. */
  private async withhold(answered: readonly Answered[], creations: ReadonlyMap<number, ZitadelEvent>): Promise<void> {
    const { ledger, owners } = this.file;
    // An event is the first of its aggregate only if no other record has had the id of the aggregate.
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

  /** @throws IdentityError if the request fails, and would fail even with fewer records */
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
        // This call throws if ZITADEL is unavailable. A smaller request would not help then.
        await recogniseZitadel(this.connection);
        return { refusal: 'tooSlow', message: '' };
      }
      const refused = refusalBy(error);
      if (refused === undefined) throw rpcError(this.connection, importData, error);
      return refused;
    }
  }
}

/** Waits until ZITADEL accepts a header that selects an organisation that was just created. */
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

/** Returns why ZITADEL rejected a request. Returns undefined if a smaller request would not help. */
function refusalBy(error: unknown): Refusal | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  const { code } = error;
  const message = plainMessage(error.rawMessage);
  if (code === Code.ResourceExhausted && message.includes(errorTexts.requestTooLarge))
    return { refusal: 'tooLarge', message };
  if (isGatewayTimeout(error) || message.includes(errorTexts.timedOut)) return { refusal: 'tooSlow', message };
  return INVALID.has(code) ? { refusal: 'invalid', message } : undefined;
}
