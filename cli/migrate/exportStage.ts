import { recordConflict } from '../../functions/import/contract.ts';
import { total } from '../../shared/collections/counts.ts';
import {
  mirrorChanged,
  mirrorDefaultOrganisation,
  mirrorOutdated,
  mirrorTooLarge,
  organisationsExist,
} from '../../shared/errors/errors.ts';
import { zitadelMirrorDefault, zitadelMirrorDeleted, zitadelMirrorOutdated } from '../../shared/errors/placeErrors.ts';
import { combineVisitors, type RecordVisitor } from '../../shared/exportFile/inspection.ts';
import { stayingOrganisation, withoutOrganisation } from '../exports/defaultOrganisation.ts';
import { undisposed } from '../exports/fileContent.ts';
import { FileFacts } from '../exports/fileFacts.ts';
import { requireSelected } from '../exports/fileSecrets.ts';
import type { ImportResponse } from '../exports/importResponse.ts';
import { inspectPlace, type PlaceInspection } from '../exports/inspectPlace.ts';
import type {
  DatabasePlace,
  ExportFile,
  Place,
  PlaceExportOptions,
  PlaceImportOptions,
  PreparedImport,
} from '../exports/placeInterfaces.ts';
import { RecordCounter } from '../exports/recordCounter.ts';
import { trackImport, trackStore } from '../exports/trackTransfer.ts';
import { usageError } from '../terminal/command.ts';
import { EXPORTING, type MigrationRun } from './migrationRun.ts';
import type { OpenSide, OpenSides } from './openSides.ts';
import { sourceOptions, stagedOptions, targetOptions } from './settings.ts';

const DEFAULT_ORGANISATION = 'the default organisation of the source, which moves only if --org selects it';

/**
 * Exports the source into a private file, validates the export, and loads its records into the run's database. If the
 * source is a file, reads that file without a copy. Leaves out the default organisation of an instance unless the call
 * selects it.
 * @throws IdentityError USAGE_INVALID if the source is a file that contains no organisations, or that contains secrets
 * which the call does not select
 */
export async function stageExport(run: MigrationRun, { source, target }: OpenSides): Promise<void> {
  const { settings } = run;
  const isFile = source.place.takes === 'files';
  const defaultOrgId = stayingOrganisation(source.facts, settings.orgIds);
  const options = withoutOrganisation(sourceOptions(settings), defaultOrgId);
  const facts = new FileFacts();
  const prepared = await prepareImport(run, target);
  const visitor = combineVisitors([prepared ?? run.database.first, facts]);
  const inspection =
    (run.sourceFile === undefined ? await stageSource(run, source.place, options, visitor) : undefined) ??
    (await inspectStaged(run, visitor, { ...run.export, name: source.place.name }));
  run.database.stated = inspection.stated;
  const { tally, counts, manifest, organisations, request } = inspection;
  const { orgs = 0, org = 0 } = tally.counts;
  if (isFile && orgs === 0)
    throw usageError(`${source.place.name} has no organisations: specify an export file with organisations`);
  if (!run.selectsSecrets) run.select(facts.secrets.selection(request));
  else if (isFile) requireSelected(source.place.name, facts.secrets, request, settings);
  const contains = (id: string | undefined) => organisations.some(({ orgId }) => orgId === id);
  const exporter = source.facts?.caller ?? manifest?.exportedBy;
  const prefix = source.facts?.defaultOrgName === undefined ? '' : `${source.facts.defaultOrgName}, `;
  const defaults =
    defaultOrgId === undefined ? [] : [{ orgId: defaultOrgId, reason: `${prefix}${DEFAULT_ORGANISATION}` }];
  const excluded = settings.excludedOrgIds.map((id) => ({ orgId: id, reason: 'excluded by --exclude-org' }));
  run.exported = {
    inspection,
    facts,
    listed: run.database.organisations(),
    records: total(counts) + org,
    organisations: orgs,
    defaultOrgId: isFile && contains(manifest?.defaultOrgId) ? manifest?.defaultOrgId : undefined,
    exporterId: isFile ? undefined : exporter?.userId,
    movedExporterId: contains(exporter?.orgId) ? exporter?.userId : undefined,
    notices: inspection.notices,
    leftOut: [...defaults, ...excluded.filter((organisation) => organisation.orgId !== defaultOrgId)],
  };
}

/**
 * Prepares the import if the target is ZITADEL. The prepared import receives the records while the command reads the
 * export.
 */
async function prepareImport(run: MigrationRun, { place, kind }: OpenSide): Promise<PreparedImport | undefined> {
  if (place.takes === 'files' || kind !== 'zitadel') return undefined;
  run.prepared = await run.reconnecting(async () => place.prepareImport?.(run.database, run.signal));
  return run.prepared;
}

/**
 * Returns the options for a later export of the source. They exclude the organisations that the first export left out.
 */
export function currentOptions(run: MigrationRun): PlaceExportOptions {
  return { ...sourceOptions(run.settings), excludedOrgIds: run.exported.leftOut.map(({ orgId }) => orgId) };
}

/**
 * Stores the export of the source in the private file.
 * @returns the result of the validation if this function has validated the export. Otherwise undefined, for example for
 * an object; the caller must then validate the stored file
 */
async function stageSource(
  run: MigrationRun,
  place: Place,
  options: PlaceExportOptions,
  visitor: RecordVisitor,
): Promise<PlaceInspection | undefined> {
  const { privateFile, signal } = run;
  return await run.reconnecting(async () => {
    await using content = await place.readExport(options, signal);
    const { once } = content;
    if (once === undefined) {
      const counter = new RecordCounter(place.name, options);
      await trackStore(privateFile, { name: place.name, content, counter }, EXPORTING, run);
      return undefined;
    }
    const stored = { ...privateFile.storing({ ...content, once }), ...undisposed };
    const reading = { visitor, label: EXPORTING, required: options };
    return await inspectPlace({ ...place, readExport: async () => stored }, options, run, reading);
  });
}

function inspectStaged(run: MigrationRun, visitor: RecordVisitor, read: Place): Promise<PlaceInspection> {
  const options = stagedOptions(run.settings);
  return inspectPlace(read, options, run, { visitor, label: `checking ${run.export.name}` });
}

/** Errors after which the target is certainly unchanged. */
const refusals = [
  organisationsExist,
  mirrorChanged,
  mirrorDefaultOrganisation,
  mirrorOutdated,
  mirrorTooLarge,
  zitadelMirrorDefault,
  zitadelMirrorDeleted,
  zitadelMirrorOutdated,
];

export async function importExport(run: MigrationRun, target: DatabasePlace): Promise<ImportResponse> {
  return await run.reconnecting(async () => {
    const options = targetOptions(run.settings, false);
    // An earlier attempt may have created organisations. So a repeated attempt must not use `--on-conflict fail`, which
    // would reject them.
    run.isRepeated = run.step === 'importing';
    run.step = 'importing';
    if (run.isRepeated)
      return await sendExport(run, target, { ...options, onConflict: recordConflict(options.onConflict) });
    // If the import was prepared, it reads the records from the run's database, and never calls `onRead`. So all its
    // errors are treated as errors after sending.
    let isSent = run.prepared !== undefined;
    const onRead = () => {
      isSent = true;
    };
    try {
      return await sendExport(run, target, options, onRead);
    } catch (error) {
      if (!isSent || refusals.some((refusal) => refusal.is(error))) run.step = 'planning';
      throw error;
    }
  });
}

export async function rehearseImport(run: MigrationRun, target: DatabasePlace): Promise<ImportResponse> {
  return await run.reconnecting(() => sendExport(run, target, targetOptions(run.settings, true)));
}

/** @param onRead called when the request begins to read the export. The target may receive records after this call */
async function sendExport(
  run: MigrationRun,
  target: DatabasePlace,
  options: PlaceImportOptions,
  onRead = () => {},
): Promise<ImportResponse> {
  const { prepared, exported } = run;
  const read = async () => exported.inspection;
  const place: Pick<DatabasePlace, 'import'> =
    prepared === undefined ? target : { import: (_, ...call) => prepared.import(read, ...call) };
  await using file = await run.openExport();
  const content: ExportFile = {
    ...file,
    open: (signal) => {
      onRead();
      return file.open(signal);
    },
  };
  return await trackImport(place, { name: run.export.name, content }, options, run);
}
