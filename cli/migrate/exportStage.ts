// The export in a run directory: storing, checking and importing it.

import { stat } from 'node:fs/promises';
import { total } from '../../shared/collections/counts.ts';
import { organisationsExist } from '../../shared/errors/errors.ts';
import type { RecordVisitor } from '../../shared/exportFile/inspection.ts';
import { stayingOrganisation, withoutOrganisation } from '../exports/defaultOrganisation.ts';
import { FileSecrets } from '../exports/fileFacts.ts';
import { requireSelected } from '../exports/fileSecrets.ts';
import type { ImportResponse } from '../exports/importResponse.ts';
import { inspectPlace, type PlaceInspection } from '../exports/inspectPlace.ts';
import type { DatabasePlace, Place, PlaceExportOptions, PlaceImportOptions } from '../exports/placeInterfaces.ts';
import { RecordCounter } from '../exports/recordCounter.ts';
import { trackImport, trackStore } from '../exports/trackTransfer.ts';
import type { MigrationRun } from './migrationRun.ts';
import type { OpenSide } from './openSides.ts';
import { exportPath, removeExport } from './runDirectory.ts';
import { sourceOptions, stagedOptions, targetOptions } from './settings.ts';

const DEFAULT_ORGANISATION = 'the default organisation of the source, which moves only if --org selects it';

/**
 * Exports the source into the run directory, compressed, and validates the export. The default organisation of an instance
 * is excluded unless it is selected; a file is copied as it is.
 * @throws IdentityError USAGE_INVALID for a file with secrets that are not selected, or without organisations
 */
export async function stageExport(run: MigrationRun, source: OpenSide): Promise<void> {
  await removeExport(run.directory);
  const { settings, callers } = run.state;
  const isFile = source.place.takes === 'files';
  const startedAt = new Date().toISOString();
  const defaultOrgId = stayingOrganisation(source.facts, settings.orgIds);
  const options = withoutOrganisation(sourceOptions(settings), defaultOrgId);
  const notices = await stageSource(run, source.place, options);
  const secrets = new FileSecrets();
  const read = isFile ? { ...run.export, name: source.place.name } : run.export;
  const { bytes, tally, counts, manifest, organisations } = await inspectStaged(run, secrets, read);
  if (isFile) requireSelected(source.place.name, secrets, manifest ?? {}, settings);
  const contains = (id: string | undefined) => organisations.some(({ orgId }) => orgId === id);
  const exporter = source.facts?.caller ?? manifest?.exportedBy;
  const { orgs = 0, org = 0 } = tally.counts;
  const prefix = source.facts?.defaultOrgName === undefined ? '' : `${source.facts.defaultOrgName}, `;
  const defaults =
    defaultOrgId === undefined ? [] : [{ orgId: defaultOrgId, reason: `${prefix}${DEFAULT_ORGANISATION}` }];
  const excluded = settings.excludedOrgIds.map((id) => ({ orgId: id, reason: 'excluded by --exclude-org' }));
  await run.advance({
    callers: { ...callers, from: isFile ? undefined : exporter?.userId },
    exported: {
      storedBytes: (await stat(exportPath(run.directory))).size,
      bytes,
      records: total(counts) + org,
      organisations: orgs,
      readAt: manifest?.readTime ?? startedAt,
      digest: tally.digest,
      instance: manifest?.instance,
      defaultOrgId: isFile && contains(manifest?.defaultOrgId) ? manifest?.defaultOrgId : undefined,
      exportedBy: contains(exporter?.orgId) ? exporter?.userId : undefined,
      notices: [...notices],
      leftOut: [...defaults, ...excluded.filter((one) => one.orgId !== defaultOrgId)],
    },
  });
}

/** Returns the options of exports after the first one, which has determined the excluded organisations. */
export function currentOptions(run: MigrationRun): PlaceExportOptions {
  return { ...sourceOptions(run.state.settings), excludedOrgIds: run.exported.leftOut.map(({ orgId }) => orgId) };
}

/**
 * Stores the source's export under its name when it is complete.
 * @returns the states that the source did not return
 */
async function stageSource(run: MigrationRun, place: Place, options: PlaceExportOptions): Promise<readonly string[]> {
  const { export: staged, output, signal } = run;
  return await run.reconnecting(async () => {
    await using content = await place.readExport(options, signal);
    const counter = new RecordCounter(place.name, options, place.takes === 'files');
    await trackStore(staged, { name: place.name, content, counter }, 'exporting', output, signal);
    return content.notices ?? [];
  });
}

/** Reads and validates the stored export. */
export function inspectStaged(run: MigrationRun, visitor?: RecordVisitor, read = run.export): Promise<PlaceInspection> {
  const options = stagedOptions(run.state.settings);
  return inspectPlace(read, options, visitor, run.output, run.signal, `checking ${run.export.name}`);
}

/** Imports the export into a target. */
export async function importExport(run: MigrationRun, target: DatabasePlace): Promise<ImportResponse> {
  return await run.reconnecting(async () => {
    const { importBegunAt, settings } = run.state;
    const options = targetOptions(settings, false);
    // An earlier request may have created the organisations.
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

async function sendExport(
  run: MigrationRun,
  target: DatabasePlace,
  options: PlaceImportOptions,
): Promise<ImportResponse> {
  await using content = await run.openExport();
  return await trackImport(target, { name: run.export.name, content }, options, run.output, run.signal);
}
