import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { selector } from '../../functions/import/selection.ts';
import { total } from '../../shared/collections/counts.ts';
import { moveFile } from '../../shared/durableFiles.ts';
import type { JsonObject } from '../../shared/json/jsonObject.ts';
import { openFile } from '../places/filePlace.ts';
import { inspectPlace, type PlaceInspection } from '../places/inspectPlace.ts';
import type { ExportOptions, Place } from '../places/place.ts';
import { trackStore } from '../places/recordCounter.ts';
import { type ExportFilter, filterExport, readManifest } from './exportFilter.ts';
import type { MigrationRun, StagedExport } from './run.ts';
import { exportPath, removeExport } from './runDirectory.ts';
import { everything, type MigrationSettings, sourceOptions } from './settings.ts';
import type { Side } from './sides.ts';

/** What moves of a source. */
export interface Selection {
  readonly options: ExportOptions;
  /** The user of the source's token, who stays; undefined where none would move. */
  readonly withoutUser: string | undefined;
}

const DEFAULT_ORGANISATION = 'the default organisation of the source, which moves only if --org names it';

/**
 * Exports the source into the run directory: compressed, complete, valid, and only what moves. The default organisation
 * stays unless it is named, and so does the user of the source's token.
 */
export async function stageExport(run: MigrationRun, source: Side, defaultOrgId: string | undefined): Promise<void> {
  await removeExport(run.directory);
  const { settings } = run.state;
  const readAt = new Date().toISOString();
  await storeExport(run, source.place, withoutOrganisation(sourceOptions(settings), defaultOrgId));
  const whole = await inspectStaged(run);
  const { ownDefault, callerId, filter, isFiltered } = decideWhatStays(settings, whole, source, defaultOrgId);
  if (isFiltered) await filterStaged(run, filter);
  const inspection = isFiltered ? await inspectStaged(run) : whole;
  const found = new Set(inspection.organisations.map((one) => one.orgId));
  const missing = settings.orgIds.filter((id) => !found.has(id));
  const { size } = await stat(exportPath(run.directory));
  const defaults = ownDefault === undefined ? [] : [{ orgId: ownDefault, reason: DEFAULT_ORGANISATION }];
  const excluded = settings.excludedOrgIds.map((id) => ({ orgId: id, reason: 'excluded by --exclude-org' }));
  await run.advance('exported', {
    callers: { ...run.state.callers, from: callerId },
    leftOut: [...defaults, ...excluded.filter((one) => one.orgId !== ownDefault)],
    exported: describeExport(inspection, { storedBytes: size, readAt, missing, withoutUser: filter.withoutUser }),
  });
}

/** Decides what of an export stays: a file is exported whole, and only the export's manifest may name who made it. */
function decideWhatStays(
  settings: MigrationSettings,
  { manifest, organisations }: PlaceInspection,
  { facts }: Side,
  defaultOrgId: string | undefined,
) {
  const ownDefault = settings.orgIds.length > 0 ? undefined : (defaultOrgId ?? manifest?.defaultOrgId);
  const { userId, orgId } = facts?.caller ?? manifest?.exportedBy ?? {};
  const keeps = selector(withoutOrganisation(sourceOptions(settings), ownDefault));
  const moves = organisations.some((one) => one.orgId === orgId && keeps(one.orgId));
  const filter: ExportFilter = { keeps, withoutUser: moves ? userId : undefined };
  const isFiltered = moves || !organisations.every((one) => keeps(one.orgId));
  return { ownDefault, callerId: userId, filter, isFiltered };
}

function describeExport(
  { bytes, tally, manifest }: PlaceInspection,
  { withoutUser, ...known }: Pick<StagedExport, 'storedBytes' | 'readAt' | 'missing'> & Pick<Selection, 'withoutUser'>,
): StagedExport {
  const { orgs: organisations = 0, ...sections } = tally.counts;
  const records = total(sections);
  return {
    ...known,
    ...(manifest === undefined ? {} : { instance: manifest.instance, readAt: manifest.readTime }),
    ...(withoutUser === undefined ? {} : { withoutUser }),
    bytes,
    records,
    organisations,
    digest: tally.digest,
  };
}

/** Returns what a migration exports, once its first export has shown what stays. */
export function currentSelection(run: MigrationRun): Selection {
  const { settings, leftOut = [], exported } = run.state;
  const excludedOrgIds = leftOut.map(({ orgId }) => orgId);
  return { options: { ...sourceOptions(settings), excludedOrgIds }, withoutUser: exported?.withoutUser };
}

function withoutOrganisation(options: ExportOptions, orgId: string | undefined): ExportOptions {
  return orgId === undefined ? options : { ...options, excludedOrgIds: [...options.excludedOrgIds, orgId] };
}

/** Stores the source's export, which appears under its name when it is complete. */
async function storeExport({ export: staged, output, signal }: MigrationRun, place: Place, options: ExportOptions) {
  await using content = await place.readExport(options, signal);
  await trackStore(staged, { name: place.name, content }, 'exporting', output, signal);
}

function inspectStaged({ export: staged, output, signal, state }: MigrationRun): Promise<PlaceInspection> {
  const options = { ...sourceOptions(state.settings), ...everything };
  return inspectPlace(staged, options, undefined, output, signal);
}

/** Replaces the export by what a filter keeps of it, with a manifest if it had one. */
async function filterStaged(run: MigrationRun, filter: ExportFilter): Promise<void> {
  const manifest = await readStaged(run, readManifest);
  await replaceStaged(run, filter);
  if (manifest === undefined) return;
  const { tally } = await inspectStaged(run);
  await replaceStaged(run, {}, { ...manifest, ...tally });
}

async function replaceStaged(run: MigrationRun, filter: ExportFilter, manifest?: JsonObject): Promise<void> {
  const kept = join(run.directory, 'export.kept.json.gz');
  await readStaged(run, (read) => openFile(kept).store(filterExport(read, filter, manifest), run.signal));
  await moveFile(kept, exportPath(run.directory));
}

async function readStaged<Result>(
  { export: staged, signal, state }: MigrationRun,
  use: (read: () => AsyncIterable<Uint8Array>) => Promise<Result>,
): Promise<Result> {
  await using content = await staged.readExport(sourceOptions(state.settings), signal);
  return await use(() => content.open(signal));
}
