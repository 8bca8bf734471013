import type { ImportResponse, ImportWarning } from '../../functions/import/contract.ts';
import { inspect } from '../../functions/import/inspect/inspection.ts';
import { unproved } from '../../functions/import/results/report.ts';
import { selector } from '../../functions/import/selection.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { placeRefused } from '../../shared/errors/placeErrors.ts';
import { callSignal } from '../../shared/http/deadline.ts';
import type { LeftToDoEntry } from '../../shared/organisation/leftToDo.ts';
import type { ZitadelConnection } from '../zitadel/connection.ts';
import { exportContent, exportLosses } from '../zitadel/export/exportContent.ts';
import { importOrganisations } from '../zitadel/import/importOrganisations.ts';
import { FileSurvey, ImportPlan } from '../zitadel/import/importPlan.ts';
import { importChanges } from '../zitadel/import/importSteps.ts';
import { ImportTally } from '../zitadel/import/importTally.ts';
import { requestLimits } from '../zitadel/import/outgoingRecords.ts';
import { TargetState, type ZitadelImport } from '../zitadel/import/targetState.ts';
import { deleteServiceUser, readCaller, readInstance } from '../zitadel/instance.ts';
import { repeatable } from './content.ts';
import type { InstanceSettings } from './instancePlace.ts';
import type { DatabasePlace, ExportContent, ImportMeter, ImportOptions, PlaceFacts, Recognised } from './place.ts';

/** Opens a ZITADEL as a place: it exports organisation by organisation, and imports in steps. */
export function openZitadel({ origin, token, tokenOption }: InstanceSettings, recognised: Recognised): DatabasePlace {
  const connect = (signal: AbortSignal): ZitadelConnection => ({ baseUrl: origin, token, tokenOption, signal });
  return {
    takes: 'imports',
    name: origin,
    readExport: async (options) => exportContent(connect, options),
    import: (content, options, meter, signal) => importIntoZitadel(connect, content, options, meter, signal),
    facts: (signal) => readZitadelFacts(connect(signal), recognised),
    async deleteCaller(signal) {
      const { userId, isServiceUser } = await readCaller(connect(signal));
      return isServiceUser && (await deleteServiceUser(connect(signal), userId));
    },
  };
}

/** The roles that may export and import. In a ZITADEL, readers of the instance may export its secrets. */
const exporters = new Set(['IAM_OWNER', 'IAM_OWNER_VIEWER', 'IAM_LOGIN_CLIENT']);
const importers = new Set(['IAM_OWNER']);

/** Asks a ZITADEL about itself and the token. */
async function readZitadelFacts(connection: ZitadelConnection, recognised: Recognised): Promise<PlaceFacts> {
  const { isServiceUser: _, ...caller } = await readCaller(connection);
  const { roles } = caller;
  const mayExport = roles.some((role) => exporters.has(role));
  const { records, bytes } = requestLimits;
  return {
    ...recognised,
    // Others may not read the instance.
    ...(mayExport ? await readInstance(connection) : { instance: undefined, defaultOrgId: undefined, domains: [] }),
    caller,
    mayExport,
    mayImport: roles.some((role) => importers.has(role)),
    limits: [
      'an export is one call per organisation, each of at most 60 s: about 80,000 people with password hashes, or 300,000 without',
      `an import is sent in requests of at most ${records.toLocaleString('en')} records and ${bytes.toLocaleString('en')} bytes, about 250 people per second`,
    ],
    exportLosses,
    importChanges,
  };
}

/**
 * Imports into a ZITADEL what it does not have. A dry run compares only. An import that was interrupted is repeated
 * without harm: what it has written is found, and not sent again.
 */
export async function importIntoZitadel(
  connect: ZitadelImport['connect'],
  content: ExportContent,
  options: ImportOptions,
  meter: ImportMeter,
  signal: AbortSignal,
): Promise<ImportResponse> {
  using call = callSignal(signal, options.timeoutMs);
  const connection = connect(call.signal);
  const { baseUrl } = connection;
  if (options.onConflict === 'overwrite')
    throw placeRefused(baseUrl, 'ZITADEL never overwrites records: specify --on-conflict report or skip');
  await using file = await repeatable(content, call.signal);
  try {
    return await importFile({ connect, connection, file, options, isSelected: selector(options) }, meter);
  } catch (error) {
    const isInvalid = error instanceof IdentityError && error.code === 'INVALID_ARGUMENT';
    throw isInvalid ? placeRefused(baseUrl, error.message, error) : error;
  }
}

async function importFile(importing: ZitadelImport, meter: ImportMeter): Promise<ImportResponse> {
  const { connection, file, options, isSelected } = importing;
  const { signal } = connection;
  const survey = new FileSurvey();
  const inspection = await inspect(file, signal, { isSelected, visitor: survey });
  const orgIds = inspection.organisations.map(({ orgId }) => orgId);
  using target = await TargetState.read(importing, orgIds);
  const withKeys = options.withKeys && survey.facts.content.withKeys;
  const exists: ImportPlan['exists'] = (record) => target.has(record);
  const plan = await ImportPlan.read({ ...inspection, source: file, survey, withKeys, exists }, signal);
  const tally = new ImportTally(target, options.onConflict);
  meter.onStarted(() => tally.settled);
  if (!options.dryRun) await importOrganisations(connection, plan, tally);
  const { entries, omitted: warningsOmitted } = plan.leftToDo;
  const { proved } = inspection;
  const warnings = [...(proved ? [] : [unproved]), ...entries.map(leftToDoWarning)];
  const { dryRun } = options;
  return tally.response(plan, { dryRun, orgIds, warnings, warningsOmitted, proved });
}

function leftToDoWarning({ id, ...entry }: LeftToDoEntry): ImportWarning {
  return { ...entry, ...(id === undefined ? {} : { id }) };
}
