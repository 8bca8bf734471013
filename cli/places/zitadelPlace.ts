import type { ImportResponse, ImportWarning } from '../../functions/import/contract.ts';
import { unlimited } from '../../functions/import/inspect/fileBudget.ts';
import { inspect } from '../../functions/import/inspect/inspection.ts';
import { unproved } from '../../functions/import/results/report.ts';
import { selector } from '../../functions/import/selection.ts';
import { organisationsExist } from '../../shared/errors/errors.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { placeNotKnown, placeRefused } from '../../shared/errors/placeErrors.ts';
import { callSignal } from '../../shared/http/deadline.ts';
import type { LeftToDoEntry } from '../../shared/organisation/leftToDo.ts';
import type { ZitadelConnection } from '../zitadel/connection.ts';
import type { ZitadelSide } from '../zitadel/expectedDifferences.ts';
import { exportContent, exportLosses, listOrganisations } from '../zitadel/export/exportContent.ts';
import { type ImportRequestEvent, importOrganisations } from '../zitadel/import/importOrganisations.ts';
import { planImport } from '../zitadel/import/importPlan.ts';
import { requestLimits } from '../zitadel/import/importRequest.ts';
import { importChanges } from '../zitadel/import/importSteps.ts';
import { ImportTally } from '../zitadel/import/importTally.ts';
import { TargetState } from '../zitadel/import/targetState.ts';
import { deleteServiceUser, readCaller, readInstance, recogniseZitadel } from '../zitadel/instance.ts';
import { repeatable } from './content.ts';
import { FileFacts } from './inspectPlace.ts';
import type { InstanceSettings } from './instancePlace.ts';
import {
  clockAhead,
  type DatabasePlace,
  type ExportContent,
  type ImportMeter,
  type ImportOptions,
  type PlaceFacts,
} from './place.ts';

/** Opens a ZITADEL as a place: it exports organisation by organisation, and imports in steps. */
export function openZitadel({ origin, token, tokenOption }: InstanceSettings): DatabasePlace {
  const connect = (signal: AbortSignal): ZitadelConnection => ({ baseUrl: origin, token, tokenOption, signal });
  return {
    takes: 'imports',
    name: origin,
    readExport: async (options) => exportContent(connect, options),
    import: (content, options, meter, signal) => importIntoZitadel(connect, content, options, meter, signal),
    facts: (signal) => readZitadelFacts(connect(signal)),
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
async function readZitadelFacts(connection: ZitadelConnection): Promise<PlaceFacts> {
  const found = await recogniseZitadel(connection);
  if (found === undefined) throw placeNotKnown(connection.baseUrl, 'it has changed since it was recognised');
  const { userId, userName, orgId, roles } = await readCaller(connection);
  const mayExport = roles.some((role) => exporters.has(role));
  // Others may not read the instance.
  const instance = mayExport ? await readInstance(connection) : undefined;
  const { records, bytes } = requestLimits;
  return {
    service: 'zitadel',
    version: instance?.version,
    instance: instance?.name,
    defaultOrgId: instance?.defaultOrgId,
    domains: instance?.domains ?? [],
    caller: { userId, userName, orgId, roles },
    mayExport,
    mayImport: roles.some((role) => importers.has(role)),
    clockAheadMs: clockAhead(found.time),
    limits: [
      'an export is one call per organisation, each of at most 60 s: about 80,000 people with password hashes, or 300,000 without',
      `an import is sent in requests of at most ${records.toLocaleString('en')} records and ${bytes.toLocaleString('en')} bytes, about 250 people per second`,
    ],
    exportLosses,
    importChanges,
  };
}

type Connect = (signal: AbortSignal) => ZitadelConnection;

/**
 * Imports into a ZITADEL what it does not have. A dry run compares only. An import that was interrupted is repeated
 * without harm: what it has written is found, and not sent again.
 */
export async function importIntoZitadel(
  connect: Connect,
  content: ExportContent,
  options: ImportOptions,
  meter: ImportMeter,
  signal: AbortSignal,
): Promise<ImportResponse> {
  using call = callSignal(signal, options.timeoutMs);
  const connection = connect(call.signal);
  const { baseUrl } = connection;
  if (options.onConflict === 'overwrite')
    throw placeRefused(baseUrl, 'a ZITADEL never overwrites records: specify --on-conflict report or skip');
  await using file = await repeatable(content, call.signal);
  try {
    return await importFile({ connect, connection, file, options }, meter);
  } catch (error) {
    const isInvalid = error instanceof IdentityError && error.code === 'INVALID_ARGUMENT';
    throw isInvalid ? placeRefused(baseUrl, error.message) : error;
  }
}

/** An import on its way, with what all of its steps need. */
interface Importing {
  readonly connect: Connect;
  readonly connection: ZitadelConnection;
  readonly file: ExportContent;
  readonly options: ImportOptions;
}

async function importFile(importing: Importing, meter: ImportMeter): Promise<ImportResponse> {
  const { connection, file, options } = importing;
  const { signal } = connection;
  const isSelected = selector(options);
  const facts = new FileFacts();
  const { organisations, proved, repeated } = await inspect(file, signal, { isSelected }, unlimited, facts);
  repeated[Symbol.dispose]();
  const orgIds = organisations.map(({ orgId }) => orgId);
  using target = await readTarget(importing, orgIds, isSelected);
  const secrets = { ...facts.content, withKeys: options.withKeys && facts.content.withKeys };
  const plan = await planImport(file, secrets, signal, { isSelected, exists: (record) => target.has(record) });
  const tally = new ImportTally(target, options.onConflict);
  meter.onStarted(() => tally.settled);
  const onRequest = (event: ImportRequestEvent) => tally.add(event);
  const totals = options.dryRun ? undefined : await importOrganisations(connection, plan, { onRequest });
  const given = new Map([...facts.sections].map(([section, { records }]) => [section, records]));
  const { entries, omitted: warningsOmitted } = plan.leftToDo;
  const warnings = [...(proved ? [] : [unproved]), ...entries.map(leftToDoWarning)];
  return tally.response(given, totals, { orgIds, withheld: plan.withheldSections, warnings, warningsOmitted, proved });
}

/** Reads what a ZITADEL has of the file's organisations. */
async function readTarget(
  { connect, connection, file, options: { withKeys, newOrgsOnly } }: Importing,
  orgIds: readonly string[],
  isSelected: (orgId: string) => boolean,
): Promise<TargetState> {
  const existing = await existingOrganisations(connection, orgIds);
  const content = exportContent(connect, { ...nothing, orgIds: existing, withKeys });
  const has = existing.length === 0 ? undefined : { content, orgIds: existing };
  const zitadel = await describeTarget(connection, has !== undefined);
  const target = await TargetState.read(file, has, { isSelected, withKeys, zitadel }, connection.signal);
  const { foreignOrganisations } = target;
  if (!newOrgsOnly || foreignOrganisations.length === 0) return target;
  target[Symbol.dispose]();
  throw organisationsExist(foreignOrganisations);
}

/** The export that says what is there: without secrets, which are not compared. */
const nothing = {
  excludedOrgIds: [],
  withPasswords: false,
  withOtp: false,
  forZitadel: false,
  timeoutMs: undefined,
};

/** Describes a ZITADEL, as far as it explains what it has besides the file. */
async function describeTarget(connection: ZitadelConnection, hasContent: boolean): Promise<ZitadelSide> {
  if (!hasContent) return { side: 'first', domains: [], callerId: undefined };
  const { domains } = await readInstance(connection);
  const { userId } = await readCaller(connection);
  return { side: 'first', domains, callerId: userId };
}

async function existingOrganisations(connection: ZitadelConnection, orgIds: readonly string[]): Promise<string[]> {
  const wanted = new Set(orgIds);
  return (await listOrganisations(connection)).map(({ id }) => id).filter((id) => wanted.has(id));
}

function leftToDoWarning({ id, ...entry }: LeftToDoEntry): ImportWarning {
  return { ...entry, ...(id === undefined ? {} : { id }) };
}
