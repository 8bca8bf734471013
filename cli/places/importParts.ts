// Imports in several requests, for files above the limit of one.

import type { ImportError, ImportResponse } from '../../functions/import/contract.ts';
import { fileWarnings } from '../../functions/import/results/fileWarnings.ts';
import { MAX_LISTED_ISSUES, toImportError } from '../../functions/import/results/report.ts';
import { missingWarnings, organisationFilter } from '../../functions/import/selection.ts';
import { newImportId } from '../../functions/import/stamp.ts';
import { addCounts, total } from '../../shared/collections/counts.ts';
import { contentTooLarge } from '../../shared/errors/placeErrors.ts';
import { readFileRecord } from '../../shared/exportFile/fileRecord.ts';
import { type Inspection, inspect } from '../../shared/exportFile/inspection.ts';
import type { ExportFileItem } from '../../shared/exportFile/reader.ts';
import { nestedRecords } from '../../shared/organisation/record.ts';
import { findSection, organisationSection } from '../../shared/organisation/sections.ts';
import {
  countSettled,
  joinedResponse,
  noOutcomes,
  type OutcomeCounts,
  outcomeCounts,
} from '../exports/importOutcomes.ts';
import type { ExportFile, ImportMeter, ImportSettled, PlaceImportOptions } from '../exports/placeInterfaces.ts';
import { type FilePart, splitFile } from '../exports/splitFile.ts';
import { asRefusal } from '../serverErrors.ts';

/** An instance that imports a file in several requests. */
export interface PartTarget {
  readonly origin: string;
  /** The size limit of a request. */
  readonly requestBytes: number;
  /** Imports one part. */
  readonly send: (part: Uint8Array, options: PlaceImportOptions, meter: ImportMeter) => Promise<ImportResponse>;
}

/**
 * Imports a file above the size limit of a request: verifies it, sends it in parts, and adds up the responses. As with one
 * request, nothing is written before the file is valid, and the same call continues an interrupted import.
 * @param content can be read repeatedly
 * @throws IdentityError
 */
export async function importParts(
  { origin, requestBytes, send }: PartTarget,
  content: ExportFile,
  options: PlaceImportOptions,
  meter: ImportMeter,
  signal: AbortSignal,
): Promise<ImportResponse> {
  const inspection = await inspectWhole(origin, content, options, signal);
  const sum = new PartsSum(inspection, options);
  const splitting = {
    maxBytes: requestBytes,
    isSelected: organisationFilter(options),
    manifest: inspection.manifest,
    leavesOut: sum.takeInvalid,
    tooLarge: (orgId: string) =>
      contentTooLarge({
        content: `the settings, projects and actions of organisation ${orgId}`,
        place: origin,
        bytes: requestBytes,
        advice: 'import into its database instead (--to firestore:PROJECT or sqlite:DIR)',
      }),
  };
  const importId = options.importId ?? newImportId();
  const partOptions = (part: FilePart): PlaceImportOptions => ({
    ...options,
    importId,
    // A token may be valid for the selected organisations only.
    orgIds: options.orgIds.length === 0 ? [] : [...part.orgIds],
    excludedOrgIds: [],
    ids: false,
  });
  const parts = splitFile(() => content.open(signal), splitting);
  for await (const part of options.dryRun ? onlyPart(parts, origin, requestBytes) : parts) {
    const partMeter: ImportMeter = {
      onBegun: () => {},
      onStarted: (settled) => meter.onStarted(() => sum.progress(settled())),
      onWait: meter.onWait,
    };
    sum.add(part, await send(part.bytes, partOptions(part), partMeter));
    meter.onStarted(() => sum.progress());
  }
  return sum.response;
}

/**
 * Yields the only part: a later part could not refer to records that a dry run has not written.
 * @throws IdentityError for several parts
 */
async function* onlyPart(
  parts: AsyncIterable<FilePart>,
  origin: string,
  requestBytes: number,
): AsyncGenerator<FilePart> {
  const found: FilePart[] = [];
  for await (const part of parts) {
    if (found.push(part) === 1) continue;
    const advice = 'a dry run is one request: leave out --dry-run, or specify fewer organisations with --org';
    throw contentTooLarge({ content: 'the file', place: origin, bytes: requestBytes, advice });
  }
  yield* found;
}

async function inspectWhole(origin: string, content: ExportFile, options: PlaceImportOptions, signal: AbortSignal) {
  try {
    return await inspect(content, signal, { isSelected: organisationFilter(options) });
  } catch (error) {
    throw asRefusal(origin, error);
  }
}

/** The sum of the responses to the parts of a file. */
class PartsSum {
  private readonly inspection: Inspection;
  private readonly options: PlaceImportOptions;
  /** The organisations of the parts so far, and those among them that exist. */
  private readonly seen = new Set<string>();
  private readonly existing = new Set<string>();
  private readonly errors: ImportError[] = [];
  private readonly warnings: ImportResponse['summary']['warnings'] = [];
  private errorsOmitted = 0;
  private warningsOmitted = 0;
  private counts: OutcomeCounts;

  constructor(inspection: Inspection, options: PlaceImportOptions) {
    this.inspection = inspection;
    this.options = options;
    // Counts the content that is in no part.
    const fields = Object.entries(inspection.unknown).filter(([name]) => !name.includes('.'));
    const notCarried = addCounts(inspection.leftOut, Object.fromEntries(fields));
    this.counts = { ...noOutcomes(), notCarried };
  }

  /** Takes an invalid record, whose place in a part is not that in the file. Returns whether the record is one. */
  readonly takeInvalid = (item: ExportFileItem, orgId: string): boolean => {
    const section = findSection(item.name);
    if (section === undefined || !this.inspection.invalid.has(section.name)) return item.isTooLarge === true;
    const record = readFileRecord(section, item, { orgId, checked: true });
    if (record.invalid === undefined) return false;
    const isCarried = section.keys !== true || this.options.withKeys;
    if (isCarried) this.errors.push(toImportError(record, record.invalid));
    const outcome = isCarried ? 'failed' : 'notCarried';
    this.count(outcome, section.name);
    for (const nested of nestedRecords(record, [])) this.count('notCarried', nested.record.section.name);
    return true;
  };

  private count(outcome: 'failed' | 'notCarried', section: string): void {
    this.counts = { ...this.counts, [outcome]: addCounts(this.counts[outcome], { [section]: 1 }) };
  }

  add({ orgIds }: FilePart, { errors = [], success, summary }: ImportResponse): void {
    const again = orgIds.intersection(this.seen);
    for (const { orgId } of success.orgs ?? []) this.existing.add(String(orgId));
    const isNew = ({ type, id = '' }: Pick<ImportError, 'type' | 'id'>) =>
      type !== organisationSection.error.type || !again.has(id);
    this.errors.push(...errors.filter(isNew));
    this.warnings.push(...summary.warnings.filter(isNew));
    for (const orgId of orgIds) this.seen.add(orgId);
    this.errorsOmitted += summary.errorsOmitted ?? 0;
    this.warningsOmitted += summary.warningsOmitted ?? 0;
    const { created, unchanged, overwritten, skipped, failed, notCarried } = outcomeCounts(summary);
    this.counts = {
      created: addCounts(this.counts.created, created),
      unchanged: addCounts(this.counts.unchanged, without(unchanged, again.intersection(this.existing).size)),
      overwritten: addCounts(this.counts.overwritten, overwritten),
      skipped: addCounts(this.counts.skipped, skipped),
      failed: addCounts(this.counts.failed, without(failed, again.difference(this.existing).size)),
      notCarried: addCounts(this.counts.notCarried, notCarried),
      unconfirmed: this.counts.unconfirmed,
    };
  }

  /** Returns the progress of the import, by that of the current part. */
  progress(part: Pick<ImportSettled, 'records' | 'unchanged'> = { records: 0, unchanged: 0 }): ImportSettled {
    const { records, unchanged } = countSettled(this.counts);
    const all = total(this.inspection.counts) + this.inspection.organisations.length;
    return {
      records: Math.min(all, records + part.records),
      unchanged: unchanged + part.unchanged,
      total: all,
    };
  }

  get response(): ImportResponse {
    const errors = this.errors.slice(0, MAX_LISTED_ISSUES);
    const allWarnings = [...this.warnings, ...missingWarnings(this.inspection, this.options)];
    const warnings = allWarnings.slice(0, MAX_LISTED_ISSUES);
    return joinedResponse({
      orgIds: [...this.existing],
      counts: this.counts,
      errors,
      errorsOmitted: this.errorsOmitted + this.errors.length - errors.length,
      warnings: [...fileWarnings(this.inspection), ...warnings],
      warningsOmitted: this.warningsOmitted + allWarnings.length - warnings.length,
      proved: this.inspection.proved,
      dryRun: this.options.dryRun,
    });
  }
}

/** Removes organisations that an earlier part has counted. */
function without(counts: Readonly<Record<string, number>>, organisations: number): Record<string, number> {
  const { [organisationSection.name]: all = 0, ...others } = counts;
  return all > organisations ? { ...others, [organisationSection.name]: all - organisations } : others;
}
