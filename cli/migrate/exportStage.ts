import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImportResponse } from '../../functions/import/contract.ts';
import { selector } from '../../functions/import/selection.ts';
import { total } from '../../shared/collections/counts.ts';
import { moveFile } from '../../shared/durableFiles.ts';
import { organisationsExist } from '../../shared/errors/errors.ts';
import type { RecordVisitor } from '../../shared/exportFile/inspection.ts';
import { type JsonObject, textAt } from '../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import { combine } from '../compareSides.ts';
import { type ExportFilter, readManifest, refersTo } from '../exports/exportFilter.ts';
import { filteredContent } from '../exports/filteredContent.ts';
import { inspectPlace, type PlaceInspection } from '../exports/inspectPlace.ts';
import type { DatabasePlace, ExportOptions, ImportOptions, Place } from '../exports/place.ts';
import { RecordCounter, trackImport, trackStore } from '../exports/recordCounter.ts';
import { LeftOutSecrets } from '../exports/secretFilter.ts';
import { openFile } from '../places/filePlace.ts';
import type { MigrationRun } from './run.ts';
import { exportPath, removeExport } from './runDirectory.ts';
import { sourceOptions, stagedOptions, targetOptions } from './settings.ts';
import type { Side } from './sides.ts';

const DEFAULT_ORGANISATION = 'the default organisation of the source, which moves only if --org names it';

/**
 * Exports the source into the run directory: compressed, complete, valid, and only what moves. The default organisation
 * stays unless it is named, and so does the user of the source's token, with all that refers to it.
 */
export async function stageExport(run: MigrationRun, source: Side, defaultOrgId: string | undefined): Promise<void> {
  await removeExport(run.directory);
  const { settings, callers } = run.state;
  const startedAt = new Date().toISOString();
  const missingStates = await storeExport(
    run,
    source.place,
    withoutOrganisation(sourceOptions(settings), defaultOrgId),
  );
  // A file is exported whole, and only the export's manifest may name its default organisation, and who made it.
  const said = (await readStagedManifest(run)) ?? {};
  const exportedFrom = defaultOrgId ?? (textAt(said, 'defaultOrgId', '') || undefined);
  const ownDefault = settings.orgIds.length > 0 ? undefined : exportedFrom;
  const userId = source.facts?.caller?.userId ?? (textAt(said, 'exportedBy.userId', '') || undefined);
  const keeps = selector(withoutOrganisation(sourceOptions(settings), ownDefault));
  const references = new UserReferences(userId, keeps);
  const secrets = new LeftOutSecrets(settings, keeps);
  const read = source.place.takes === 'files' ? { ...run.export, name: source.place.name } : run.export;
  const whole = await inspectStaged(run, combine([references, secrets]), read);
  const secretsLeftOut = secrets.counts;
  const withoutUser = references.found ? userId : undefined;
  const isWhole = whole.organisations.every((one) => keeps(one.orgId)) && total(secretsLeftOut) === 0;
  const isFiltered = references.found || !isWhole;
  if (isFiltered) await filterStaged(run, { keeps, withoutUser });
  const { bytes, tally, counts, ...staged } = isFiltered ? await inspectStaged(run) : whole;
  const { orgs = 0, org = 0 } = tally.counts;
  const prefix = source.facts?.defaultOrgName === undefined ? '' : `${source.facts.defaultOrgName}, `;
  // A file may name a default organisation that it does not hold.
  const isThere = defaultOrgId !== undefined || whole.organisations.some(({ orgId }) => orgId === ownDefault);
  const defaults =
    ownDefault !== undefined && isThere ? [{ orgId: ownDefault, reason: `${prefix}${DEFAULT_ORGANISATION}` }] : [];
  const excluded = settings.excludedOrgIds.map((id) => ({ orgId: id, reason: 'excluded by --exclude-org' }));
  await run.advance({
    callers: { ...callers, from: userId },
    leftOut: [...defaults, ...excluded.filter((one) => one.orgId !== ownDefault)],
    exported: {
      storedBytes: (await stat(exportPath(run.directory))).size,
      bytes,
      records: total(counts) + org,
      organisations: orgs,
      readAt: staged.manifest?.readTime ?? startedAt,
      digest: tally.digest,
      instance: staged.manifest?.instance,
      withoutUser,
      ...(missingStates.length === 0 ? {} : { missingStates: [...missingStates] }),
      secretsLeftOut,
    },
  });
}

async function readStagedManifest(run: MigrationRun): Promise<JsonObject | undefined> {
  await using content = await run.openExport();
  return await readManifest(() => content.open(run.signal));
}

/** Finds out whether the organisations that move hold a user, or refer to it: as owner of what it created, for one. */
class UserReferences implements RecordVisitor {
  found = false;
  private readonly userId: string | undefined;
  private readonly keeps: (orgId: string) => boolean;

  constructor(userId: string | undefined, keeps: (orgId: string) => boolean) {
    this.userId = userId;
    this.keeps = keeps;
  }

  add(record: OrganisationRecord): void {
    if (this.userId === undefined || this.found || !this.keeps(record.orgId)) return;
    this.found = refersTo(record, this.userId);
  }

  reset(): void {
    this.found = false;
  }
}

/** Returns what a migration exports, once its first export has shown what stays. */
export function currentSelection(run: MigrationRun) {
  const { settings, leftOut = [], exported } = run.state;
  const excludedOrgIds = leftOut.map(({ orgId }) => orgId);
  const { withoutUser, secretsLeftOut = {} } = exported ?? {};
  const secrets = total(secretsLeftOut) === 0 ? undefined : settings;
  return { options: { ...sourceOptions(settings), excludedOrgIds }, filter: { withoutUser, secrets } };
}

function withoutOrganisation(options: ExportOptions, orgId: string | undefined): ExportOptions {
  return orgId === undefined ? options : { ...options, excludedOrgIds: [...options.excludedOrgIds, orgId] };
}

/**
 * Stores the source's export, which appears under its name when it is complete.
 * @returns the states that the source did not return
 */
async function storeExport(run: MigrationRun, place: Place, options: ExportOptions): Promise<readonly string[]> {
  const { export: staged, output, signal } = run;
  return await run.reconnecting(async () => {
    await using content = await place.readExport(options, signal);
    const counter = new RecordCounter(place.name, options);
    await trackStore(staged, { name: place.name, content, counter }, 'exporting', output, signal);
    return content.missingStates ?? [];
  });
}

/** Reads the export, record by record. */
export function inspectStaged(run: MigrationRun, visitor?: RecordVisitor, read = run.export): Promise<PlaceInspection> {
  const options = stagedOptions(run.state.settings);
  return inspectPlace(read, options, visitor, run.output, run.signal, `checking ${run.export.name}`);
}

/** Replaces the export by what a filter keeps of it, with the manifest of that if it had one. */
async function filterStaged(run: MigrationRun, filter: ExportFilter): Promise<void> {
  const { directory, export: staged, output, signal, state } = run;
  const kept = join(directory, 'export.kept.json.gz');
  await using content = await run.openExport();
  const options = stagedOptions(state.settings);
  const filtering = { filter: { ...filter, secrets: state.settings }, options, output, signal };
  const filtered = await filteredContent(staged, content, filtering);
  await openFile(kept).store(filtered.open(signal), signal);
  await moveFile(kept, exportPath(directory));
}

/** Imports the export into a target, or tries that. */
export async function importExport(run: MigrationRun, target: DatabasePlace): Promise<ImportResponse> {
  return await run.reconnecting(async () => {
    const { importBegunAt, settings } = run.state;
    const options = targetOptions(settings, false);
    // A later request finds the organisations that an earlier one has created.
    if (importBegunAt !== undefined) {
      await run.change({ importRepeated: true });
      return await sendExport(run, target, { ...options, newOrgsOnly: false });
    }
    await run.change({ importBegunAt: new Date().toISOString() });
    try {
      return await sendExport(run, target, options);
    } catch (error) {
      if (organisationsExist.is(error)) await run.change({ importBegunAt: undefined });
      throw error;
    }
  });
}

/** Imports the export in a dry run. */
export async function rehearseImport(run: MigrationRun, target: DatabasePlace): Promise<ImportResponse> {
  return await run.reconnecting(() => sendExport(run, target, targetOptions(run.state.settings, true)));
}

async function sendExport(run: MigrationRun, target: DatabasePlace, options: ImportOptions): Promise<ImportResponse> {
  await using content = await run.openExport();
  return await trackImport(target, { name: run.export.name, content }, options, run.output, run.signal);
}
