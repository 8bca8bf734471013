import type { z } from 'zod';
import { exportedManifest } from '../../shared/exportFile/manifest.ts';
import { type ExportFileItem, ExportFileReader } from '../../shared/exportFile/reader.ts';
import { isJsonObject } from '../../shared/json/jsonObject.ts';
import { uniqueValue } from '../../shared/json/splitter.ts';
import { findSection, organisationSection } from '../../shared/organisation/allSections.ts';
import { usageError } from '../terminal/command.ts';
import { nounOf } from '../terminal/numberTexts.ts';
import { printable } from '../terminal/terminal.ts';
import { sourceError } from './fileContent.ts';
import type { ExportFile, PlaceExportOptions } from './placeInterfaces.ts';

/** The fields of a manifest that describe the request of the export. Older manifests lack some of these fields. */
const exportedRequest = exportedManifest.pick({ secrets: true, ignored: true }).partial();

/**
 * The kinds of secrets that an export included, and the unknown fields of the request that the exporting instance
 * ignored. Both come from the file's manifest.
 */
export type ExportedRequest = z.infer<typeof exportedRequest>;

/**
 * Returns lines about the request of an export. The lines include the ignored fields, because a misspelt field can make
 * an export incomplete.
 */
export function requestLines({ secrets: kinds, ignored = [] }: ExportedRequest): readonly string[] {
  const carried = Object.entries(kinds ?? {}).flatMap(([kind, isCarried]) => (isCarried ? [kind] : []));
  const secrets = carried.length === 0 ? 'no secrets' : `the source's ${carried.join(', ')}, if any`;
  const statement = `the export contains ${secrets}`;
  return [
    ...(kinds === undefined ? [] : [statement]),
    ...ignored.map(({ field, nearest }) => {
      const remedy = nearest === undefined ? '' : `: the nearest known field is ${nearest}`;
      return `the exporting instance ignored the unknown field ${field}${remedy}`;
    }),
  ];
}

/**
 * Counts the records of an export file during a transfer, and checks that the file is complete. Does not interpret the
 * records.
 */
export class RecordCounter {
  private readonly name: string;
  private readonly isFile: boolean;
  private hasOrganisations = false;
  /** The selected organisations that the file has not contained so far. */
  readonly missing: Set<string>;
  records = 0;
  bytes = 0;
  organisations = 0;
  request: ExportedRequest = {};

  /**
   * @param selection the organisations that the file must contain
   * @param isFile whether the source is a file or an object, which must contain organisations
   */
  constructor(name: string, selection?: SelectedOrganisations, isFile = false) {
    this.name = name;
    this.isFile = isFile;
    this.missing = selection === undefined ? new Set() : namedOrganisations(selection);
  }

  /**
   * Yields the bytes of a file, and counts the file's records. Each call counts from zero. If `content.isValidated` is
   * set, the content itself passes its records to the counter. Otherwise, the counter finds the records in the bytes.
   * @param isValidated whether the reader of the bytes validates the records. If absent, this function checks their
   * JSON
   * @throws IdentityError if the file is invalid or incomplete, lacks a selected organisation, or contains no
   * organisation. Throws it before the bytes end, when the target has not used the file yet
   */
  async *count(
    content: Pick<ExportFile, 'open' | 'isValidated'>,
    signal: AbortSignal,
    isValidated = false,
  ): AsyncGenerator<Uint8Array> {
    this.records = 0;
    this.bytes = 0;
    this.organisations = 0;
    const reader =
      content.isValidated === true ? undefined : new ExportFileReader(() => true, { findsOnly: isValidated });
    for await (const chunk of content.open(signal, this.addItems)) {
      this.bytes += chunk.byteLength;
      if (reader !== undefined) this.check(() => this.addItems(reader.push(chunk)));
      yield chunk;
    }
    this.check(() => reader?.end());
    if (this.isFile && !this.hasOrganisations)
      throw usageError(`${this.name} has no organisations: specify an export file with organisations`);
    requireFound(`${this.name} does not have`, this.missing);
  }

  readonly addItems = (items: readonly ExportFileItem[]): void => {
    for (const item of items) {
      const { name, organisation } = item;
      this.hasOrganisations ||= organisation !== undefined;
      if (organisation === undefined) this.addManifest(item);
      else if (name === 'orgId') this.missing.delete(String(item.value));
      // Only items of sections are records. The login policy of a v1 file contains lists, which are items too. These
      // lists are fields of the policy, not records.
      else if (name === organisationSection.name || findSection(name) !== undefined) {
        this.records++;
        // A file for ZITADEL can contain two entries for an organisation. Only the first entry contains the record of
        // the organisation itself.
        if (name === organisationSection.name) this.organisations++;
      }
    }
  };

  private addManifest(item: ExportFileItem): void {
    const manifest = uniqueValue(item);
    if (!isJsonObject(manifest)) return;
    for (const name of statements.filter((statement) => Object.hasOwn(manifest, statement))) {
      // Ignores a field of an unexpected type, because another tool may have written the manifest.
      const { data = {} } = exportedRequest.safeParse({ [name]: manifest[name] });
      this.request = { ...this.request, ...data };
    }
  }

  private check(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw sourceError(this.name, error);
    }
  }
}

export type SelectedOrganisations = Pick<PlaceExportOptions, 'orgIds' | 'excludedOrgIds'>;

function namedOrganisations({ orgIds, excludedOrgIds }: SelectedOrganisations): Set<string> {
  return new Set(orgIds).difference(new Set(excludedOrgIds));
}

/**
 * Requires that each selected organisation is in at least one of the files that were read.
 * @param lacks the beginning of the message, such as `north.json does not have`
 * @throws IdentityError USAGE_INVALID for an organisation that no file contains
 */
export function requireOrganisations(
  lacks: string,
  selection: SelectedOrganisations,
  inspections: readonly { readonly organisations: readonly { readonly orgId: string }[] }[],
): void {
  const orgIds = inspections.flatMap(({ organisations }) => organisations.map(({ orgId }) => orgId));
  requireFound(lacks, namedOrganisations(selection).difference(new Set(orgIds)));
}

const MAX_NAMED_ORGANISATIONS = 10;

function requireFound(lacks: string, missing: ReadonlySet<string>): void {
  if (missing.size === 0) return;
  const more = missing.size > MAX_NAMED_ORGANISATIONS ? ` and ${missing.size - MAX_NAMED_ORGANISATIONS} more` : '';
  const ids = [...missing].slice(0, MAX_NAMED_ORGANISATIONS).map(printable).join(', ');
  throw usageError(`${lacks} ${nounOf(missing.size, 'organisation')} ${ids}${more}: correct --org; nothing is changed`);
}

const statements = Object.keys(exportedRequest.shape);
