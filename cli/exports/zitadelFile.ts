// Writes export files in the form that ZITADEL imports without loss; see zitadel 4.6. The command converts exports to
// this form itself. So it can convert the exports of ZITADEL as well as those of this service.

import { withoutEmpty } from '../../shared/defined.ts';
import type { FilePass } from '../../shared/exportFile/filePass.ts';
import { FileWriter } from '../../shared/exportFile/fileWriter.ts';
import { LeftToDo } from '../../shared/exportFile/leftToDo.ts';
import { omittedOrganisations } from '../../shared/exportFile/leftToDoRules.ts';
import { exportedManifest } from '../../shared/exportFile/manifest.ts';
import type { ExportFileItem, FieldFilter } from '../../shared/exportFile/reader.ts';
import { type JsonObject, textAt } from '../../shared/json/jsonObject.ts';
import { findSection } from '../../shared/organisation/allSections.ts';
import { type OrganisationRecord, storedFields } from '../../shared/organisation/record.ts';
import { recordKey } from '../../shared/organisation/recordPlan.ts';
import type { Section } from '../../shared/organisation/sections/section.ts';
import type { StoredDocument } from '../../shared/store/store.ts';
import type { SecretSelection } from '../records/secretSelection.ts';
import type { CallContext } from '../terminal/progress.ts';
import { undisposed } from './fileContent.ts';
import { type OwnedItem, type Owners, readItems, readOwners, recordOf } from './fileOwners.ts';
import { withManifest } from './manifestEnd.ts';
import type { ExportFile, FilePlace, StoredFile } from './placeInterfaces.ts';
import { openPrivateFile } from './privateFile.ts';
import { RecordCounter } from './recordCounter.ts';
import { type ReadContent, trackStore } from './trackTransfer.ts';

/**
 * Writes an export as a file for ZITADEL. First copies the export to a temporary file, because the position of a record
 * in the new file can depend on later records. Memory does not grow with the export.
 */
export async function storeForZitadel(
  target: FilePlace,
  { name, content, counter }: Required<ReadContent>,
  secrets: SecretSelection,
  context: CallContext,
): Promise<StoredFile> {
  await using copy = openPrivateFile(`the export of ${name}`);
  await trackStore(copy, { name, content, counter }, 'exporting', context);
  const file = await copy.readExport();
  using owners = await readOwners(file, context.signal);
  const written = new RecordCounter(copy.name);
  const ordered: ExportFile = {
    isRepeatable: false,
    isValidated: true,
    open: (signal, onItems) => new ZitadelFile({ file, owners, secrets }, signal).bytes(onItems),
    fraction: () => Math.min(1, written.records / Math.max(1, counter.records)),
    ...undisposed,
  };
  return await trackStore(target, { name: copy.name, content: ordered, counter: written }, 'writing', context);
}

interface CopiedExport {
  readonly file: ExportFile;
  readonly owners: Owners;
  readonly secrets: SecretSelection;
}

const statedSteps = exportedManifest.pick({ leftToDo: true, leftToDoOmitted: true }).partial();

class ZitadelFile {
  private readonly export: CopiedExport;
  private readonly signal: AbortSignal;
  private readonly writer = new FileWriter();
  private isOpen = false;
  /**
   * The sections with records that refer to projects of other organisations. The file contains such records after the
   * first entries of all organisations.
   */
  private readonly late = new Set<string>();
  private manifest: JsonObject = {};
  /**
   * `zitadel` contains the manual steps after an import into ZITADEL. `exported` contains the manual steps that the
   * manifest of the export lists.
   */
  private readonly steps: { readonly zitadel: LeftToDo; readonly exported: LeftToDo };

  constructor(copied: CopiedExport, signal: AbortSignal) {
    this.export = copied;
    this.signal = signal;
    const { withPasswords, withOtp, withKeys } = copied.secrets;
    const content = { withPasswords, withOtp, withKeys };
    this.steps = {
      zitadel: new LeftToDo({ ...content, forZitadel: true }, 'command'),
      exported: new LeftToDo({ ...content, forZitadel: false }, 'http'),
    };
  }

  bytes(onItems?: (items: readonly ExportFileItem[]) => void): AsyncGenerator<Uint8Array> {
    const onRecord = (record: OrganisationRecord) => this.listSteps(record);
    return withManifest(this.json(), this.signal, (pass) => this.describe(pass), { onItems, onRecord });
  }

  /**
   * Yields the file without its manifest. ZITADEL imports the grants of organisations in the order of the file. A
   * record that refers to another organisation's project must therefore come after all grants. So such a record follows
   * in a second entry of its organisation, after the first entries of all organisations.
   */
  private async *json(): AsyncGenerator<Uint8Array> {
    yield* this.entries(() => true, false);
    if (this.late.size > 0) yield* this.entries((name) => name === 'orgId' || this.late.has(name), true);
    this.writer.finish();
    yield this.take();
  }

  /**
   * @param areSecond whether to write the second entries. They contain only the organisation's id, and the records that
   * refer to projects of other organisations
   */
  private async *entries(isWanted: FieldFilter, areSecond: boolean): AsyncGenerator<Uint8Array> {
    for await (const items of readItems(this.export.file, this.signal, isWanted)) {
      for (const item of items) {
        if (item.organisation === undefined) this.manifest = recordOf(item);
        else if (item.name === 'orgId') {
          this.close();
          if (!areSecond) this.open(item);
        } else if (this.isLate(item) === areSecond) {
          this.open(item);
          this.writer.add({ name: item.name, isList: item.path.length > 3 }, [this.textOf(item)]);
        }
      }
      yield this.take();
    }
    this.close();
  }

  private open({ orgId }: OwnedItem): void {
    if (!this.isOpen) this.writer.begin(`{"orgId":${JSON.stringify(orgId)}`);
    this.isOpen = true;
  }

  private close(): void {
    if (this.isOpen) this.writer.end();
    this.isOpen = false;
  }

  private take(): Uint8Array {
    return Buffer.from(this.writer.take().join(''));
  }

  private isLate(item: OwnedItem): boolean {
    const path = findSection(item.name)?.exported?.ofProject;
    if (path === undefined || this.export.owners.has('project', item.orgId, textAt(recordOf(item), path, '')))
      return false;
    this.late.add(item.name);
    return true;
  }

  /**
   * Removes references to identity providers that the file lacks, because ZITADEL does not import a record with such
   * references.
   */
  private textOf(item: OwnedItem): string {
    const section = findSection(item.name);
    const { providers, keepProviders } = section?.exported ?? {};
    if (section === undefined || providers === undefined || keepProviders === undefined) return item.text;
    const json = recordOf(item);
    const { orgId, text } = item;
    const isMissing = this.addMissingProviders(section, { id: '', orgId, body: text }, providers(json));
    if (!isMissing) return text;
    keepProviders(json, (id) => this.hasProvider(orgId, id));
    return JSON.stringify(json);
  }

  private hasProvider(orgId: string, id: string): boolean {
    return this.export.owners.has('provider', orgId, id);
  }

  private listSteps(record: OrganisationRecord): void {
    if (record.invalid !== undefined) return;
    const { section, json } = record;
    const document = { id: recordKey(record).id, ...storedFields(record) };
    for (const list of Object.values(this.steps)) list.addRecord(section, document);
    this.addMissingProviders(section, document, section.exported?.providers?.(json) ?? []);
  }

  /** @returns whether the file lacks any of the record's providers */
  private addMissingProviders(section: Section, document: StoredDocument, providers: readonly string[]): boolean {
    const { orgId = '' } = document;
    const missing = providers.filter((id) => !this.hasProvider(orgId, id));
    for (const list of Object.values(this.steps)) list.addMissingProviders(section, document, missing);
    return missing.length > 0;
  }

  /**
   * Returns the manifest of the written file. Leaves out the id of the exporting instance, because the organisations
   * will belong to a ZITADEL instance.
   */
  private describe({ tally: { counts, digest } }: FilePass): object {
    const { instanceId: _, leftToDo: __, leftToDoOmitted: ___, ...manifest } = this.manifest;
    const { leftToDo = [], leftToDoOmitted = 0 } = statedSteps.parse(this.manifest);
    const { zitadel, exported } = this.steps;
    // Steps about organisations that the export left out are copied from the export's manifest, because they cannot be
    // computed from the records. All other steps were computed from the records.
    const ofSource = leftToDo.filter(({ reason }) => reason === omittedOrganisations.reason);
    const omitted = zitadel.omitted + Math.max(0, leftToDoOmitted - exported.omitted);
    return {
      ...manifest,
      counts,
      digest,
      leftToDo: [...zitadel.entries, ...ofSource],
      ...withoutEmpty({ leftToDoOmitted: omitted }),
    };
  }
}
