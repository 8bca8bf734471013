import type { ImportResponse, ImportWarning } from '../../functions/import/contract.ts';
import { unlimited } from '../../functions/import/inspect/fileBudget.ts';
import { inspect } from '../../functions/import/inspect/inspection.ts';
import { unproved } from '../../functions/import/progress/report.ts';
import { selector } from '../../functions/import/selection.ts';
import { organisationsExist } from '../../shared/errors/errors.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { placeRefused } from '../../shared/errors/placeErrors.ts';
import { callSignal } from '../../shared/http/deadline.ts';
import type { LeftToDoEntry } from '../../shared/organisation/leftToDo.ts';
import type { ZitadelConnection } from '../zitadel/connection.ts';
import type { ZitadelSide } from '../zitadel/expectedDifferences.ts';
import { readCaller, readInstance } from '../zitadel/recognise.ts';
import { exportContent } from '../zitadel/source/exportContent.ts';
import { listOrganisations } from '../zitadel/source/exportOrganisations.ts';
import { type ImportRequestEvent, importOrganisations } from '../zitadel/target/importOrganisations.ts';
import { planImport } from '../zitadel/target/importPlan.ts';
import { ImportTally } from '../zitadel/target/importTally.ts';
import { TargetState } from '../zitadel/target/targetState.ts';
import { FileFacts } from './fileFacts.ts';
import type { ExportContent, ImportMeter, ImportOptions } from './place.ts';
import { repeatable } from './repeatable.ts';

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
