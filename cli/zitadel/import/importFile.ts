import { setTimeout } from 'node:timers/promises';
import { type ImportWarning, recordConflict } from '../../../functions/import/contract.ts';
import { addCounts } from '../../../shared/collections/counts.ts';
import { defined } from '../../../shared/defined.ts';
import { because } from '../../../shared/errors/recordIssues.ts';
import { warn } from '../../../shared/errors/warnings.ts';
import { fileWarnings, loginNameWarnings } from '../../../shared/exportFile/fileWarnings.ts';
import { type Inspection, inspect } from '../../../shared/exportFile/inspection.ts';
import { ofUsers } from '../../../shared/exportFile/mirroredContent.ts';
import { organisationFilter } from '../../../shared/exportFile/organisationFilter.ts';
import { callSignal } from '../../../shared/http/deadline.ts';
import { textAt } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { Backoff, type RetryPolicy } from '../../../shared/retry.ts';
import { makeRepeatable } from '../../exports/fileContent.ts';
import { FileSecrets } from '../../exports/fileFacts.ts';
import { joinedResponse } from '../../exports/importOutcomes.ts';
import type { ImportResponse } from '../../exports/importResponse.ts';
import {
  type DoneRecords,
  type ExportFile,
  type ImportMeter,
  importTarget,
  type PlaceImportOptions,
  type PreparedImport,
} from '../../exports/placeInterfaces.ts';
import { asRefusal } from '../../http/serverErrors.ts';
import type { ImportFacts, ImportTarget } from '../../records/importFacts.ts';
import { RunDatabase } from '../../records/runDatabase.ts';
import { noSecrets } from '../../records/secretSelection.ts';
import { usageError } from '../../terminal/command.ts';
import { counted } from '../../terminal/numberTexts.ts';
import { isNeverExported, LAG_MS } from '../expectedDifferences.ts';
import { Mirror } from '../mirror/mirror.ts';
import { IdOwners } from '../ownership/idOwners.ts';
import {
  findWithoutUser,
  type OwnedFile,
  organisationText,
  withholdDeleted,
  withholdForeign,
  withholdIfForeign,
} from '../ownership/withholding.ts';
import { hasContext } from '../rpc.ts';
import type { ZitadelAddress, ZitadelConnection } from '../zitadelConnection.ts';
import { readCaller, readDomainPolicy, readInstance, readReleases } from '../zitadelInstance.ts';
import { Closer } from './closer.ts';
import { findCreations } from './creations.ts';
import { decideAll, decideClosings, listNotices, organisationsWithTakenNames, type SurveyedFile } from './decisions.ts';
import { ImportLedger, type LedgerEntry, type LedgerIssue, type LedgerRecord } from './ledger.ts';
import { sendLedger } from './sendLedger.ts';
import { type TargetRecord, TargetRecords } from './targetRecords.ts';

/**
 * Imports the records of a file that ZITADEL does not have. A dry run only compares the records, and sends nothing. The
 * import is idempotent, because it does not send existing records again.
 */
export async function importIntoZitadel(
  address: ZitadelAddress,
  content: ExportFile,
  options: PlaceImportOptions,
  meter: ImportMeter,
  signal: AbortSignal,
): Promise<ImportResponse> {
  const { version } = await readInstance({ ...address, signal });
  const { releases, assumption } = await readReleases({ ...address, signal }, version);
  const selection = { ...noSecrets, withKeys: options.withKeys };
  using database = new RunDatabase(selection, importTarget({ releases }, options));
  const file = new FileImport(address, database);
  const read = async (ends: AbortSignal) => {
    await using repeatable = await makeRepeatable(content, ends);
    return await inspect(repeatable, ends, { isSelected: organisationFilter(options), visitor: file });
  };
  const response = await file.import(read, options, meter, signal);
  if (assumption === undefined) return response;
  const { warnings = [] } = response.summary;
  const summary = { ...response.summary, warnings: [{ type: 'release', ...assumption }, ...warnings] };
  return { ...response, summary };
}

/**
 * An import of a file into ZITADEL. `database` keeps the records of the file and of ZITADEL, so an import after a dry
 * run need not read them a second time.
 */
export class FileImport implements PreparedImport {
  private readonly address: ZitadelAddress;
  private readonly ledger: ImportLedger;
  private readonly owners: IdOwners;
  private readonly secrets = new FileSecrets();
  private readonly database: RunDatabase;

  /**
   * @param database receives the records of the file as the first side. It also receives the tables in which the import
   * stores its own data
   */
  constructor(address: ZitadelAddress, database: RunDatabase) {
    this.address = address;
    this.database = database;
    this.ledger = new ImportLedger(database.database);
    this.owners = new IdOwners(database.database);
  }

  add(record: OrganisationRecord, holder?: OrganisationRecord): void {
    this.ledger.add(record, holder, this.database.first.add(record));
    for (const visitor of [this.secrets, this.owners]) visitor.add(record);
  }

  reset(): void {
    for (const visitor of [this.database.first, this.ledger, this.secrets, this.owners]) visitor.reset();
  }

  async import(
    readFile: (signal: AbortSignal) => Promise<Inspection>,
    options: PlaceImportOptions,
    meter: ImportMeter,
    signal: AbortSignal,
  ): Promise<ImportResponse> {
    const { ledger, owners, secrets, database, address } = this;
    let read = 0;
    let compared: DoneRecords = { records: 0, total: 0 };
    // The import first reads ZITADEL's records and events, which takes longer than the comparison. So the progress
    // counts the reading too. The total is unknown until the reading has ended.
    meter.onPhase('comparing', () => ({
      records: read + compared.records,
      total: compared.total === 0 ? 0 : read + compared.total,
    }));
    const onCompared = (now: DoneRecords) => {
      compared = now;
    };
    const onRead = (count: number) => {
      read += count;
    };
    using call = callSignal(signal, options.timeoutMs);
    if (options.onConflict === 'overwrite')
      throw usageError('ZITADEL never overwrites records: specify --on-conflict report, skip or fail');
    ledger.restart();
    database.imports.restart();
    try {
      const file = { ledger, owners, secrets, database, inspection: await readFile(call.signal) };
      return await importFile({ ...address, signal: call.signal, onRead }, file, options, onCompared, meter);
    } catch (error) {
      throw asRefusal(address.origin, error);
    }
  }
}

interface ReadFile {
  readonly ledger: ImportLedger;
  readonly owners: IdOwners;
  readonly secrets: FileSecrets;
  readonly database: RunDatabase;
  readonly inspection: Inspection;
}

async function importFile(
  connection: ZitadelConnection,
  { inspection, ...read }: ReadFile,
  asked: PlaceImportOptions,
  onCompared: (compared: DoneRecords) => void,
  { onPhase }: ImportMeter,
): Promise<ImportResponse> {
  const { ledger } = read;
  const file = await compareWithTarget(connection, read, inspection, asked);
  const { options, loginNamesByDomain } = file;
  const mirror = options.mirror === true ? await Mirror.plan(connection, { ...file, inspection }) : undefined;
  if (mirror !== undefined) file.target.doomed = mirror.doomed;
  const { total } = ledger.progress;
  const withSecrets = await decideAll(file, connection, (records) => onCompared({ records, total }));
  await mirror?.requireNotDeleted();
  for (const { orgId, record } of inspection.organisations)
    if (record?.invalid !== undefined && !file.target.organisations.has(orgId)) ledger.refuse(orgId);
  let progress = ledger.progress;
  const unchanged = progress.records;
  onPhase('importing', () => {
    const deleted = mirror?.progress ?? { records: 0, total: 0 };
    return { records: progress.records + deleted.records, total: progress.total + deleted.total, unchanged };
  });
  const closer = options.dryRun ? undefined : await Closer.start(connection, ledger);
  const onSettled = async () => {
    await closer?.afterRequest();
    progress = ledger.progress;
  };
  if (options.dryRun) ledger.foresee();
  else {
    await mirror?.begin();
    await sendLedger(connection, file, file.callerId, onSettled);
  }
  if (await settleExisting(file)) await decideClosings(file, connection);
  if (!options.dryRun) {
    await lookAgain(file);
    await proveCreated(file);
  }
  await closer?.finish();
  if (options.dryRun) mirror?.foresee();
  else await mirror?.finish();
  const { leftToDo, warnings } = await listNotices(file, connection.signal);
  const { errors, elsewhere, refused, outcomes, createdOrgs } = ledger;
  return joinedResponse({
    orgIds: inspection.organisations.map(({ orgId }) => orgId).filter((orgId) => !refused.has(orgId)),
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
      ...loginNameWarnings(inspection, loginNamesByDomain),
      ...changeWarnings(ledger.changes, withSecrets, options.dryRun),
      ...(mirror?.warnings ?? []),
      ...warnings.entries,
      ...leftToDo.warnings,
    ],
    warningsOmitted: warnings.omitted + leftToDo.omitted,
    proved: inspection.proved,
    dryRun: options.dryRun,
    ...defined({ deletions: mirror?.deletions }),
  });
}

interface ComparedFile extends SurveyedFile, OwnedFile {
  readonly database: RunDatabase;
  readonly connection: ZitadelConnection;
  readonly options: PlaceImportOptions;
}

/**
 * Reads ZITADEL's records. Excludes a record of the file from the import if its id belongs to another record in
 * ZITADEL, or if its organisation was deleted there.
 */
async function compareWithTarget(
  connection: ZitadelConnection,
  read: Omit<ReadFile, 'inspection'>,
  { organisations }: Inspection,
  asked: PlaceImportOptions,
): Promise<ComparedFile> {
  const orgIds = organisations.map(({ orgId }) => orgId);
  // If a gateway removes the header that selects an organisation, ZITADEL writes message texts into another
  // organisation, and the import cannot read the existing records. `hasContext` fails in that case.
  for (const orgId of orgIds) await hasContext(connection, orgId);
  const target = await TargetRecords.read(connection, asked, orgIds, read.database);
  await read.owners.read(connection);
  const { userId: callerId } = await readCaller(connection);
  const owned = { ...read, imports: read.database.imports };
  withholdDeleted(owned);
  withholdForeign(owned);
  return {
    ...owned,
    connection,
    // The option `fail` no longer applies after the check in `TargetRecords.read`. From now on, organisations of the
    // file may exist because this import creates them.
    options: { ...asked, onConflict: recordConflict(asked.onConflict) },
    target,
    callerId,
    loginNamesByDomain: (await readDomainPolicy(connection)).userLoginMustBeDomain,
    withoutUser: findWithoutUser(owned),
    refusedOrgIds: organisationsWithTakenNames(organisations, target.organisations),
  };
}

/** ZITADEL's searches can show a write up to a minute late. */
const defaultPolls: RetryPolicy = { attempts: () => 14, initialDelayMs: LAG_MS, maxDelayMs: 10_000 };

/**
 * Decides the outcomes of records for which ZITADEL has no creation event from this import. Some of these records
 * existed before the import, but were not visible then. For the others, which the import has sent, ZITADEL has reported
 * no error.
 * @returns whether there were such records
 */
async function settleExisting(file: ComparedFile): Promise<boolean> {
  const { connection, ledger, owners, imports, options } = file;
  const outcomes = ['existing', 'sent'] as const;
  const scope = { onConflict: options.onConflict, releases: imports.target.releases };
  // If the record's id belongs to its own organisation, ZITADEL's export will contain the record. So the import waits
  // until the export contains it.
  const isAwaited = ({ position, outcome, record: { orgId } }: LedgerRecord) => {
    const { path = '' } = ledger.document(position) ?? {};
    return outcome === 'sent' || owners.ownerOf(path)?.orgId === orgId;
  };
  await settleUnexported(file);
  const polls = connection.polls ?? defaultPolls;
  const backoff = new Backoff(polls, connection.signal);
  for (let isLast = false, isFirst = true; ; isFirst = false) {
    const orgIds = await placesOf(ledger.records(connection.signal, outcomes), imports);
    if (orgIds.length === 0) return !isFirst;
    await setTimeout(polls.initialDelayMs, undefined, { signal: connection.signal });
    const target = await readAgain(file, orgIds);
    for await (const ledgerRecord of ledger.records(connection.signal, outcomes)) {
      const existing = target.find(ledgerRecord);
      if (existing.isClosed) ledger.settleClosing(ledgerRecord);
      const entry = settledEntry(ledgerRecord, existing, scope, isAwaited(ledgerRecord));
      if (entry !== undefined || isLast) ledger.enter(ledgerRecord, entry ?? unconfirmedEntry(ledgerRecord));
    }
    if (isLast) return true;
    isLast = !(await backoff.failed(undefined));
  }
}

function readAgain({ connection, database, options }: ComparedFile, orgIds: readonly string[]) {
  database.second.reset();
  return TargetRecords.read(connection, options, orgIds, database);
}

/**
 * Decides the outcomes of sent records that ZITADEL never exports. If an event shows that such a record existed before
 * the import, its outcome becomes `unchanged`.
 */
async function settleUnexported({ connection, ledger, imports }: ComparedFile): Promise<void> {
  const { releases } = imports.target;
  const sent: LedgerRecord[] = [];
  for await (const ledgerRecord of ledger.records(connection.signal, ['sent']))
    if (isNeverExported({ section: ledgerRecord.record.section.name, id: ledgerRecord.id }, releases))
      sent.push(ledgerRecord);
  const records = sent.map(({ position, record: { section, orgId, json } }) => ({
    position,
    section: section.name,
    orgId,
    json,
  }));
  const search = { callerId: undefined, after: undefined };
  const earlier = await findCreations(connection, records, search);
  for (const ledgerRecord of sent)
    if (earlier.has(ledgerRecord.position)) ledger.enter(ledgerRecord, { found: 'equal', outcome: 'unchanged' });
}

/**
 * Returns the final entry of a record. Returns undefined if the export does not show the record yet. Keeps errors about
 * parts of the record, such as a second factor.
 */
function settledEntry(
  { record, id, isHeld, foreseen, outcome, issues }: LedgerRecord,
  { found, paths }: TargetRecord,
  { onConflict, releases }: Pick<PlaceImportOptions, 'onConflict'> & Pick<ImportTarget, 'releases'>,
  isAwaited: boolean,
): LedgerEntry | undefined {
  const isHidden = isNeverExported({ section: record.section.name, id }, releases) && outcome === 'existing';
  // If several records of the file have the same id, ZITADEL has imported only the first. For all others, `foreseen` is
  // `notCarried`.
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

/**
 * Reads again to which organisations the ids of the created records belong. During the import, another caller may have
 * used one of these ids for another record.
 */
async function lookAgain(file: ComparedFile): Promise<void> {
  const { connection, ledger, owners } = file;
  const created = [...ledger.documents('created')];
  if (created.length === 0) return;
  await owners.read(connection);
  for (const document of created) {
    const owner = withholdIfForeign(file, document);
    if (owner !== undefined) ledger.addElsewhere(document.position, organisationText(owners, owner.orgId));
  }
}

/**
 * Compares the created records with ZITADEL's export, as the proof of a migration does. Reports records that the export
 * does not show, or shows with other content.
 */
async function proveCreated(file: ComparedFile): Promise<void> {
  const { connection, ledger, imports, callerId } = file;
  const backoff = new Backoff(connection.polls ?? defaultPolls, connection.signal);
  let orgIds = await placesOf(ledger.records(connection.signal, ['created']), imports);
  while (orgIds.length > 0) {
    const target = await readAgain(file, orgIds);
    const differing: LedgerRecord[] = [];
    for await (const ledgerRecord of ledger.records(connection.signal, ['created'])) {
      const place = placeOf(ledgerRecord.record, imports);
      const isShown =
        place !== undefined && orgIds.includes(place) && isExported(ledgerRecord, callerId, imports.target);
      if (isShown && target.find(ledgerRecord).found !== 'equal') differing.push(ledgerRecord);
    }
    if (differing.length === 0) return;
    orgIds = await placesOf(differing, imports);
    if (await backoff.failed(undefined)) continue;
    for (const ledgerRecord of differing) ledger.addProblem(ledgerRecord, differenceIssue(target.find(ledgerRecord)));
    return;
  }
}

/**
 * Whether ZITADEL's exports contain a record. They never contain the memberships and grants of the token's user in
 * other organisations.
 */
function isExported(
  { record: { section, json }, id }: LedgerRecord,
  callerId: string,
  { releases }: ImportTarget,
): boolean {
  const isOfCaller = ofUsers.has(section.collection) && json.userId === callerId;
  return !isOfCaller && !isNeverExported({ section: section.name, id }, releases);
}

/**
 * Returns the id of the organisation into which ZITADEL writes a record. Returns undefined if this depends on a project
 * that the file does not contain.
 */
function placeOf({ section, json, orgId }: OrganisationRecord, imports: ImportFacts): string | undefined {
  return section.zitadel?.movesRecords === true ? imports.ownerOf(textAt(json, 'projectId', orgId)) : orgId;
}

async function placesOf(
  records: AsyncIterable<LedgerRecord> | Iterable<LedgerRecord>,
  imports: ImportFacts,
): Promise<string[]> {
  const orgIds = new Set<string>();
  for await (const { record } of records) orgIds.add(placeOf(record, imports) ?? record.orgId);
  return [...orgIds];
}

function differenceIssue({ found, paths }: TargetRecord): LedgerIssue {
  return found === 'missing' ? because('creation_not_exported', {}) : because('creation_differs', { fields: paths });
}

function changeWarnings(changes: ImportLedger['changes'], existing: number, dryRun: boolean): ImportWarning[] {
  const { seeds, closed } = changes;
  const [sent, closedNow] = dryRun ? ['would be sent', 'would do so'] : ['was sent', 'did so'];
  const ofSeeds = warn('seeds_sent', { people: counted(seeds, 'person'), outcome: sent });
  const ofClosed = warn('records_closed', { records: counted(closed, 'record'), outcome: closedNow });
  const others = warn('secrets_not_compared', { people: counted(existing, 'person') });
  return [
    ...(seeds === 0 ? [] : [{ type: 'secrets', ...ofSeeds }]),
    ...(closed === 0 ? [] : [{ type: 'state', ...ofClosed }]),
    ...(existing === 0 ? [] : [{ type: 'not_compared', ...others }]),
  ];
}
