import { setTimeout } from 'node:timers/promises';
import type { ImportResponse, ImportWarning } from '../../../functions/import/contract.ts';
import { fileWarnings, loginNameWarnings } from '../../../functions/import/results/fileWarnings.ts';
import { organisationFilter } from '../../../functions/import/selection.ts';
import { addCounts } from '../../../shared/collections/counts.ts';
import { combineVisitors, inspect } from '../../../shared/exportFile/inspection.ts';
import { callSignal } from '../../../shared/http/deadline.ts';
import { UsageError } from '../../command.ts';
import { makeRepeatable } from '../../exports/fileContent.ts';
import { joinedResponse } from '../../exports/importOutcomes.ts';
import type { ComparedRecords, ExportFile, ImportMeter, PlaceImportOptions } from '../../exports/placeInterfaces.ts';
import { counted } from '../../numberTexts.ts';
import { asRefusal } from '../../serverMessages.ts';
import { isNeverExported, LAG_MS } from '../expectedDifferences.ts';
import { hasContext } from '../rpc.ts';
import type { ZitadelAddress, ZitadelConnection } from '../zitadelConnection.ts';
import { readDomainPolicy } from '../zitadelInstance.ts';
import { Closer } from './closer.ts';
import { decideAll, decideClosings, FileSurvey, listLeftToDo, organisationsWithTakenNames } from './decisions.ts';
import { ImportLedger } from './ledger.ts';
import { sendLedger } from './sendLedger.ts';
import { TargetRecords } from './targetRecords.ts';

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
  let compared = { records: 0, total: 0 };
  meter.onBegun('comparing', () => compared);
  const onCompared = (now: ComparedRecords) => {
    compared = now;
  };
  using call = callSignal(signal, options.timeoutMs);
  if (options.onConflict === 'overwrite')
    throw new UsageError('ZITADEL never overwrites records: specify --on-conflict report or skip');
  await using file = await makeRepeatable(content, call.signal);
  try {
    return await importFile({ ...address, signal: call.signal }, file, options, onCompared, meter);
  } catch (error) {
    throw asRefusal(address.origin, error);
  }
}

async function importFile(
  connection: ZitadelConnection,
  file: ExportFile,
  options: PlaceImportOptions,
  onCompared: (compared: ComparedRecords) => void,
  { onStarted }: ImportMeter,
): Promise<ImportResponse> {
  const { signal } = connection;
  using ledger = new ImportLedger();
  const survey = new FileSurvey(options);
  const inspection = await inspect(file, signal, {
    isSelected: organisationFilter(options),
    visitor: combineVisitors([survey, ledger]),
  });
  const orgIds = inspection.organisations.map(({ orgId }) => orgId);
  // Without its context, ZITADEL would write an organisation's texts into another organisation, and existing records are unreadable.
  for (const orgId of orgIds) await hasContext(connection, orgId);
  using target = await TargetRecords.read(connection, options, orgIds, survey.losses);
  const { userLoginMustBeDomain } = await readDomainPolicy(connection);
  const refusedOrgIds = organisationsWithTakenNames(inspection.organisations, target.organisations);
  const read = { ledger, survey, target, options, loginNamesByDomain: userLoginMustBeDomain, refusedOrgIds };
  const { total } = ledger.progress;
  const withSecrets = await decideAll(read, connection, (records) => onCompared({ records, total }));
  let progress = ledger.progress;
  const unchanged = progress.records;
  onStarted(() => ({ ...progress, unchanged }));
  const closer = options.dryRun ? undefined : await Closer.start(connection, ledger);
  const onSettled = async () => {
    await closer?.afterRequest();
    progress = ledger.progress;
  };
  if (options.dryRun) ledger.foresee();
  else await sendLedger(connection, ledger, survey.losses, onSettled);
  if (await settleExisting(connection, options, ledger, survey)) await decideClosings(read, connection);
  await closer?.finish();
  const leftToDo = await listLeftToDo(read, signal);
  const { errors, refused, outcomes } = ledger;
  return joinedResponse({
    orgIds: orgIds.filter((orgId) => !refused.has(orgId)),
    counts: {
      ...outcomes,
      notCarried: [inspection.leftOut, inspection.unknown].reduce(addCounts, outcomes.notCarried),
    },
    errors: errors.entries,
    errorsOmitted: errors.omitted,
    warnings: [
      ...fileWarnings(inspection),
      ...loginNameWarnings(inspection, userLoginMustBeDomain),
      ...changeWarnings(ledger.changes, withSecrets, options.dryRun),
      ...leftToDo.warnings,
    ],
    warningsOmitted: leftToDo.omitted,
    proved: inspection.proved,
    dryRun: options.dryRun,
  });
}

const TAKEN = 'ZITADEL has the id in another organisation, with other content, earlier in the file, or deleted it';

/**
 * Settles records that exist but were not visible at the start: a ZITADEL shows writes 2 s later.
 * @returns whether there were any
 */
async function settleExisting(
  connection: ZitadelConnection,
  options: PlaceImportOptions,
  ledger: ImportLedger,
  { losses }: FileSurvey,
): Promise<boolean> {
  const orgIds = ledger.organisationsOfExisting;
  if (orgIds.length === 0) return false;
  await setTimeout(LAG_MS, undefined, { signal: connection.signal });
  using target = await TargetRecords.read(connection, { ...options, newOrgsOnly: false }, orgIds, losses);
  for await (const one of ledger.records(connection.signal, 'existing')) {
    const { found, isClosed } = target.find(one.record);
    if (isClosed) ledger.settleClosing(one);
    const isHidden = isNeverExported({ section: one.record.section.name, id: one.id });
    // Of several records with one id, the first one was imported.
    if ((found === 'equal' && one.foreseen !== 'notCarried') || isHidden)
      ledger.enter(one, { found, outcome: 'unchanged' });
    else {
      const isReported = options.onConflict === 'report';
      ledger.enter(one, {
        found: found === 'missing' ? 'taken' : found,
        outcome: isReported ? 'failed' : 'skipped',
        message: isReported && !one.isHeld ? TAKEN : undefined,
      });
    }
  }
  return true;
}

/** Returns the warnings about changes of existing records, and about their secrets. */
function changeWarnings(changes: ImportLedger['changes'], existing: number, dryRun: boolean): ImportWarning[] {
  const { seeds, closed } = changes;
  const [sent, closedNow] = dryRun ? ['would be sent', 'would be closed'] : ['was sent', 'were closed'];
  const missing = `overwritten: ${counted(seeds, 'person')} whose TOTP seed was not there, and ${sent}`;
  const open = `overwritten: of the records that an import has left open there, ${counted(closed, 'record')} ${closedNow}`;
  const others = `password hashes and TOTP seeds of ${counted(existing, 'person')} who existed are not compared (identity compare --with passwords,otp does that)`;
  return [
    ...(seeds === 0 ? [] : [{ type: 'secrets', reason: 'seeds_sent', message: missing } as const]),
    ...(closed === 0 ? [] : [{ type: 'state', reason: 'state_changed', message: open } as const]),
    ...(existing === 0 ? [] : [{ type: 'not_compared', reason: 'secrets_not_compared', message: others } as const]),
  ];
}
