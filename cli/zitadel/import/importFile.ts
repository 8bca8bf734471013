import { setTimeout } from 'node:timers/promises';
import { type ImportWarning, recordConflict } from '../../../functions/import/contract.ts';
import { addCounts } from '../../../shared/collections/counts.ts';
import { because } from '../../../shared/errors/recordIssues.ts';
import { warn } from '../../../shared/errors/warnings.ts';
import { fileWarnings, loginNameWarnings } from '../../../shared/exportFile/fileWarnings.ts';
import { type Inspection, inspect } from '../../../shared/exportFile/inspection.ts';
import { organisationFilter } from '../../../shared/exportFile/organisationFilter.ts';
import { callSignal } from '../../../shared/http/deadline.ts';
import { textAt } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { haveStates } from '../../../shared/organisation/zitadelReleases.ts';
import { Backoff, type RetryPolicy } from '../../../shared/retry.ts';
import { makeRepeatable } from '../../exports/fileContent.ts';
import { joinedResponse } from '../../exports/importOutcomes.ts';
import type { ImportResponse } from '../../exports/importResponse.ts';
import type {
  AcceptedLosses,
  ComparedRecords,
  ExportFile,
  ImportMeter,
  PlaceImportOptions,
  PreparedImport,
} from '../../exports/placeInterfaces.ts';
import { asRefusal } from '../../http/serverErrors.ts';
import { RunDatabase } from '../../records/runDatabase.ts';
import { noSecrets } from '../../records/secretSelection.ts';
import { usageError } from '../../terminal/command.ts';
import { counted } from '../../terminal/numberTexts.ts';
import { isNeverExported, LAG_MS } from '../expectedDifferences.ts';
import type { FileLosses } from '../fileLosses.ts';
import { IdOwners } from '../ownership/idOwners.ts';
import {
  type OwnedFile,
  organisationText,
  withholdDeleted,
  withholdForeign,
  withholdIfForeign,
} from '../ownership/withholding.ts';
import { hasContext } from '../rpc.ts';
import type { ZitadelAddress, ZitadelConnection } from '../zitadelConnection.ts';
import { readCaller, readDomainPolicy, readReleases } from '../zitadelInstance.ts';
import { Closer } from './closer.ts';
import { findCreations } from './creations.ts';
import { decideAll, decideClosings, FileSurvey, listNotices, organisationsWithTakenNames } from './decisions.ts';
import { ImportLedger, type LedgerEntry, type LedgerIssue, type LedgerRecord } from './ledger.ts';
import { sendLedger } from './sendLedger.ts';
import { type TargetRecord, TargetRecords } from './targetRecords.ts';

/**
 * Imports the records that a ZITADEL does not have. A dry run only compares. The import is idempotent: existing records are
 * not sent again.
 */
export async function importIntoZitadel(
  address: ZitadelAddress,
  content: ExportFile,
  options: PlaceImportOptions,
  meter: ImportMeter,
  signal: AbortSignal,
): Promise<ImportResponse> {
  using database = new RunDatabase({ ...noSecrets, withKeys: options.withKeys });
  const file = await FileImport.prepare({ ...address, signal }, options, database);
  const read = async (ends: AbortSignal) => {
    await using repeatable = await makeRepeatable(content, ends);
    return await inspect(repeatable, ends, { isSelected: organisationFilter(options), visitor: file });
  };
  return await file.import(read, options, meter, signal);
}

/**
 * An import of the records that the target does not have. After a dry run, the import reads neither the file nor the
 * target's records again.
 */
export class FileImport implements PreparedImport {
  private readonly address: ZitadelAddress;
  private readonly ledger: ImportLedger;
  private readonly owners: IdOwners;
  private readonly survey: FileSurvey;
  private readonly database: RunDatabase;

  private constructor(address: ZitadelAddress, survey: FileSurvey, database: RunDatabase) {
    this.address = address;
    this.database = database;
    this.survey = survey;
    this.ledger = new ImportLedger(database.database);
    this.owners = new IdOwners(database.database);
  }

  /**
   * Prepares an import by reading which releases the target may be of.
   * @param database gets the records of the file as its first side, and the tables of the import
   */
  static async prepare(
    connection: ZitadelConnection,
    options: AcceptedLosses,
    database: RunDatabase,
  ): Promise<FileImport> {
    const { signal: _, ...address } = connection;
    return new FileImport(address, new FileSurvey(await readReleases(connection), options), database);
  }

  add(record: OrganisationRecord, holder?: OrganisationRecord): void {
    this.ledger.add(record, holder, this.database.first.add(record));
    for (const visitor of [this.survey, this.owners]) visitor.add(record);
  }

  reset(): void {
    for (const visitor of [this.database.first, this.ledger, this.survey, this.owners]) visitor.reset();
  }

  async import(
    readFile: (signal: AbortSignal) => Promise<Inspection>,
    options: PlaceImportOptions,
    meter: ImportMeter,
    signal: AbortSignal,
  ): Promise<ImportResponse> {
    const { ledger, owners, survey, database, address } = this;
    let read = 0;
    let compared: ComparedRecords = { records: 0, total: 0 };
    // Reading the target's records and events takes longer than the comparison, whose amount is known afterwards.
    meter.onBegun('comparing', () => ({
      records: read + compared.records,
      total: compared.total === 0 ? 0 : read + compared.total,
    }));
    const onCompared = (now: ComparedRecords) => {
      compared = now;
    };
    const onRead = (count: number) => {
      read += count;
    };
    using call = callSignal(signal, options.timeoutMs);
    if (options.onConflict === 'overwrite')
      throw usageError('ZITADEL never overwrites records: specify --on-conflict report, skip or fail');
    ledger.restart();
    survey.losses.restart();
    try {
      const file = { ledger, owners, survey, database, inspection: await readFile(call.signal) };
      return await importFile({ ...address, signal: call.signal, onRead }, file, options, onCompared, meter);
    } catch (error) {
      throw asRefusal(address.origin, error);
    }
  }
}

/** A file that was read. */
interface ReadFile {
  readonly ledger: ImportLedger;
  readonly owners: IdOwners;
  readonly survey: FileSurvey;
  readonly database: RunDatabase;
  readonly inspection: Inspection;
}

async function importFile(
  connection: ZitadelConnection,
  { ledger, owners, survey, database, inspection }: ReadFile,
  asked: PlaceImportOptions,
  onCompared: (compared: ComparedRecords) => void,
  { onStarted }: ImportMeter,
): Promise<ImportResponse> {
  const { signal } = connection;
  const orgIds = inspection.organisations.map(({ orgId }) => orgId);
  // Without its context, ZITADEL would write an organisation's texts into another organisation, and existing records are unreadable.
  for (const orgId of orgIds) await hasContext(connection, orgId);
  const { losses } = survey;
  const target = await TargetRecords.read(connection, asked, orgIds, { database, losses });
  // From here on, this import creates organisations itself.
  const options = { ...asked, onConflict: recordConflict(asked.onConflict) };
  await owners.read(connection);
  const release = { writesToFirstOwner: !haveStates(losses.releases) };
  const owned = { ledger, owners, losses, release };
  const { userId: callerId } = await readCaller(connection);
  await withholdDeleted(connection, owned, callerId);
  withholdForeign(owned);
  const { userLoginMustBeDomain } = await readDomainPolicy(connection);
  const refusedOrgIds = organisationsWithTakenNames(inspection.organisations, target.organisations);
  const read = { ledger, survey, target, options, loginNamesByDomain: userLoginMustBeDomain, refusedOrgIds, callerId };
  const { total } = ledger.progress;
  const withSecrets = await decideAll(read, connection, (records) => onCompared({ records, total }));
  for (const { orgId, record } of inspection.organisations)
    if (record?.invalid !== undefined && !target.organisations.has(orgId)) ledger.refuse(orgId);
  let progress = ledger.progress;
  const unchanged = progress.records;
  onStarted(() => ({ ...progress, unchanged }));
  const closer = options.dryRun ? undefined : await Closer.start(connection, ledger);
  const onSettled = async () => {
    await closer?.afterRequest();
    progress = ledger.progress;
  };
  if (options.dryRun) ledger.foresee();
  else await sendLedger(connection, owned, callerId, onSettled);
  const sent = { ...read, database, owned, connection };
  if (await settleExisting(sent)) await decideClosings(read, connection);
  if (!options.dryRun) {
    await lookAgain(sent);
    await proveCreated(sent);
  }
  await closer?.finish();
  const { leftToDo, warnings } = await listNotices(read, signal);
  const { errors, elsewhere, refused, outcomes, createdOrgs } = ledger;
  return joinedResponse({
    orgIds: orgIds.filter((orgId) => !refused.has(orgId)),
    createdOrgs,
    counts: {
      ...outcomes,
      notCarried: [inspection.leftOut, inspection.unknown].reduce(addCounts, outcomes.notCarried),
    },
    errors: errors.entries,
    elsewhere: elsewhere.entries,
    errorsOmitted: errors.omitted,
    warnings: [
      ...fileWarnings(inspection),
      ...loginNameWarnings(inspection, userLoginMustBeDomain),
      ...changeWarnings(ledger.changes, withSecrets, options.dryRun),
      ...warnings.entries,
      ...leftToDo.warnings,
    ],
    warningsOmitted: warnings.omitted + leftToDo.omitted,
    proved: inspection.proved,
    dryRun: options.dryRun,
  });
}

/** A file whose records were sent. */
interface SentFile {
  readonly database: RunDatabase;
  readonly connection: ZitadelConnection;
  readonly ledger: ImportLedger;
  readonly survey: FileSurvey;
  readonly options: PlaceImportOptions;
  readonly owned: OwnedFile;
  /** The user of the token. */
  readonly callerId: string;
}

/** Searches of a ZITADEL can show writes up to a minute later, if its projections stand still. */
const defaultPolls: RetryPolicy = { attempts: () => 14, initialDelayMs: LAG_MS, maxDelayMs: 10_000 };

/**
 * Settles the records without an event that shows their creation: those that existed and were not visible at the start,
 * and those that ZITADEL took without an error.
 * @returns whether there were any
 */
async function settleExisting(file: SentFile): Promise<boolean> {
  const { connection, ledger, survey, options, owned } = file;
  const outcomes = ['existing', 'sent'] as const;
  const scope = { onConflict: options.onConflict, releases: survey.losses.releases };
  // A record that ZITADEL has in its organisation appears sooner or later.
  const isAwaited = ({ position, outcome, record: { orgId } }: LedgerRecord) => {
    const { path = '' } = ledger.document(position) ?? {};
    return outcome === 'sent' || owned.owners.ownerOf(path)?.orgId === orgId;
  };
  await settleUnexported(file);
  const backoff = new Backoff(connection.polls ?? defaultPolls, connection.signal);
  for (let isLast = false, isFirst = true; ; isFirst = false) {
    const orgIds = await placesOf(ledger.records(connection.signal, outcomes), survey);
    if (orgIds.length === 0) return !isFirst;
    await setTimeout(LAG_MS, undefined, { signal: connection.signal });
    const target = await readAgain(file, orgIds);
    for await (const one of ledger.records(connection.signal, outcomes)) {
      const existing = target.find(one);
      if (existing.isClosed) ledger.settleClosing(one);
      const entry = settledEntry(one, existing, scope, isAwaited(one));
      if (entry !== undefined || isLast) ledger.enter(one, entry ?? unconfirmedEntry(one));
    }
    if (isLast) return true;
    isLast = !(await backoff.failed(undefined));
  }
}

/** Reads some organisations of the ZITADEL after records were sent. */
function readAgain({ connection, database, survey: { losses }, options }: SentFile, orgIds: readonly string[]) {
  database.second.reset();
  return TargetRecords.read(connection, options, orgIds, { database, losses });
}

/** Settles the records that no export shows, and that ZITADEL left as they were, by the events of their creation before. */
async function settleUnexported({ connection, ledger, survey }: SentFile): Promise<void> {
  const { releases } = survey.losses;
  const sent: LedgerRecord[] = [];
  for await (const one of ledger.records(connection.signal, ['sent']))
    if (isNeverExported({ section: one.record.section.name, id: one.id }, releases)) sent.push(one);
  const records = sent.map(({ position, record: { section, orgId, json } }) => ({
    position,
    section: section.name,
    orgId,
    json,
  }));
  const search = { callerId: undefined, after: undefined };
  const earlier = await findCreations(connection, records, search);
  for (const one of sent) if (earlier.has(one.position)) ledger.enter(one, { found: 'equal', outcome: 'unchanged' });
}

/**
 * Returns the entry of a record by the target's export; undefined if it does not show the record yet. The errors about parts
 * of the record stay.
 */
function settledEntry(
  { record, id, isHeld, foreseen, outcome, issues }: LedgerRecord,
  { found, paths }: TargetRecord,
  { onConflict, releases }: Pick<PlaceImportOptions, 'onConflict'> & Pick<FileLosses, 'releases'>,
  isAwaited: boolean,
): LedgerEntry | undefined {
  const isHidden = isNeverExported({ section: record.section.name, id }, releases) && outcome === 'existing';
  // Of several records with one id, the first one was imported.
  if ((found === 'equal' && foreseen !== 'notCarried') || isHidden) return { found, outcome: 'unchanged', issues };
  if (found === 'missing' && isAwaited) return undefined;
  const isReported = onConflict === 'report';
  const isDifferent = found === 'different' && foreseen !== 'notCarried';
  const hidden = because(found === 'missing' ? 'record_hidden' : 'record_repeated', {});
  const conflict = isDifferent ? because('content_kept', { fields: paths }) : hidden;
  return {
    found: found === 'missing' ? 'taken' : found,
    outcome: isReported ? 'failed' : 'skipped',
    issues: isReported && !isHeld ? [conflict, ...issues] : issues,
  };
}

function unconfirmedEntry({ isHeld, issues }: LedgerRecord): LedgerEntry {
  const unconfirmed = isHeld ? [] : [because('creation_unconfirmed', {})];
  return { found: 'missing', outcome: 'unconfirmed', issues: [...unconfirmed, ...issues] };
}

/** Looks once more who owns the ids of the created records, because others may have taken some during the import. */
async function lookAgain({ connection, ledger, owned }: SentFile): Promise<void> {
  const created = [...ledger.documents('created')];
  if (created.length === 0) return;
  await owned.owners.read(connection);
  for (const document of created) {
    const owner = withholdIfForeign(owned, document);
    if (owner !== undefined) ledger.addElsewhere(document.position, organisationText(owned.owners, owner.orgId));
  }
}

/**
 * Compares the created records with the target's export, as the proof of a migration does, and reports those that it shows
 * with other content, or not at all.
 */
async function proveCreated(file: SentFile): Promise<void> {
  const { connection, ledger, survey, callerId } = file;
  const backoff = new Backoff(connection.polls ?? defaultPolls, connection.signal);
  let orgIds = await placesOf(ledger.records(connection.signal, ['created']), survey);
  while (orgIds.length > 0) {
    const target = await readAgain(file, orgIds);
    const differing: LedgerRecord[] = [];
    for await (const one of ledger.records(connection.signal, ['created'])) {
      const place = placeOf(one.record, survey);
      const isShown = place !== undefined && orgIds.includes(place) && isExported(one, callerId, survey);
      if (isShown && target.find(one).found !== 'equal') differing.push(one);
    }
    if (differing.length === 0) return;
    orgIds = await placesOf(differing, survey);
    if (await backoff.failed(undefined)) continue;
    for (const one of differing) ledger.addProblem(one, differenceIssue(target.find(one)));
    return;
  }
}

/** Whether an export can show a record. None shows memberships and grants of the token's user in organisations of others. */
function isExported(
  { record: { section, json }, id }: LedgerRecord,
  callerId: string,
  { losses }: FileSurvey,
): boolean {
  const isOfCaller = ['members', 'userGrants'].includes(section.collection) && json.userId === callerId;
  return !isOfCaller && !isNeverExported({ section: section.name, id }, losses.releases);
}

/** Returns the organisation in which a ZITADEL keeps a record; undefined if the file does not have that organisation. */
function placeOf({ section, json, orgId }: OrganisationRecord, { projects }: FileSurvey): string | undefined {
  return section.zitadel?.movesRecords === true ? projects.get(textAt(json, 'projectId', orgId)) : orgId;
}

/** Returns the organisations of the file in which a ZITADEL keeps some records. */
async function placesOf(
  records: AsyncIterable<LedgerRecord> | Iterable<LedgerRecord>,
  survey: FileSurvey,
): Promise<string[]> {
  const orgIds = new Set<string>();
  for await (const { record } of records) orgIds.add(placeOf(record, survey) ?? record.orgId);
  return [...orgIds];
}

function differenceIssue({ found, paths }: TargetRecord): LedgerIssue {
  return found === 'missing' ? because('creation_not_exported', {}) : because('creation_differs', { fields: paths });
}

/** Returns the warnings about changes of existing records, and about their secrets. */
function changeWarnings(changes: ImportLedger['changes'], existing: number, dryRun: boolean): ImportWarning[] {
  const { seeds, closed } = changes;
  const [sent, closedNow] = dryRun ? ['would be sent', 'would be closed'] : ['was sent', 'were closed'];
  const ofSeeds = warn('seeds_sent', { people: counted(seeds, 'person'), outcome: sent });
  const ofClosed = warn('records_closed', { records: counted(closed, 'record'), outcome: closedNow });
  const others = warn('secrets_not_compared', { people: counted(existing, 'person') });
  return [
    ...(seeds === 0 ? [] : [{ type: 'secrets', ...ofSeeds }]),
    ...(closed === 0 ? [] : [{ type: 'state', ...ofClosed }]),
    ...(existing === 0 ? [] : [{ type: 'not_compared', ...others }]),
  ];
}
