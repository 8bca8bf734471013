import { type ExportFileSource, inspect } from '../../../functions/import/inspect/inspection.ts';
import { type OrganisationHeader, withAdditions } from '../../../functions/import/inspect/organisationDraft.ts';
import { type ExportFileItem, ExportFileReader } from '../../../functions/import/source/exportFileReader.ts';
import { type Counts, increase } from '../../../shared/collections/counts.ts';
import { textAt, textsAt } from '../../../shared/json/jsonObject.ts';
import { parseJson } from '../../../shared/json/jsonScanner.ts';
import { LeftToDo } from '../../../shared/organisation/leftToDo.ts';
import { equalButForCase, type FileContent, invitationsAlone } from '../../../shared/organisation/leftToDoRules.ts';
import { type OrganisationRecord, readRecord, storedFields } from '../../../shared/organisation/record.ts';
import { findSection } from '../../../shared/organisation/sections.ts';
import { droppedSections } from './importSteps.ts';

/** An export file for a ZITADEL, as far as all steps of its import must know it. */
export interface ImportPlan {
  readonly source: ExportFileSource;
  /** SHA-256 of the file's bytes, base64url. */
  readonly digest: string;
  /** The number of records by section. */
  readonly counts: Readonly<Record<string, number>>;
  readonly leftToDo: Pick<LeftToDo, 'entries' | 'omitted'>;
  /** Returns the organisation of an entry of the file; undefined for one that is not imported. */
  readonly header: (entry: number) => OrganisationHeader | undefined;
  /** The identity providers that ZITADEL takes, with their organisations. */
  readonly providers: ReadonlyMap<string, string>;
  /** The places in the file of records that ZITADEL cannot take. */
  readonly withheld: ReadonlySet<string>;
  /** The numbers of those among them that the ZITADEL does not have, by section. */
  readonly withheldSections: Readonly<Record<string, number>>;
  /** Whether the ZITADEL has a record, so that it is not sent. */
  readonly exists: (record: OrganisationRecord) => boolean;
}

/** What the file holds of secrets, and is to be imported. */
export type FileSecrets = Pick<FileContent, 'withPasswords' | 'withOtp' | 'withKeys'>;

/** The names that ZITADEL does not distinguish by case, by section: what they are unique in, and where they stand. */
const caseless: Readonly<Record<string, readonly [kind: string, scope: string, name: string]>> = {
  projectRoles: ['role', 'projectId', 'roleKey'],
  oidcApps: ['application', 'app.projectId', 'app.name'],
  apiApps: ['application', 'app.projectId', 'app.name'],
};

/** What of a file is imported. */
export interface ImportScope {
  /** By default all organisations. */
  readonly isSelected?: (orgId: string) => boolean;
  /** Whether the ZITADEL has a record; by default it has none. */
  readonly exists?: (record: OrganisationRecord) => boolean;
}

/**
 * Reads and validates an export file, and finds what a ZITADEL cannot take of it.
 * @throws IdentityError INVALID_ARGUMENT naming the first 100 issues
 */
export async function planImport(
  source: ExportFileSource,
  secrets: FileSecrets,
  signal: AbortSignal,
  { isSelected = () => true, exists = () => false }: ImportScope = {},
): Promise<ImportPlan> {
  const inspection = await inspect(source, signal, { isSelected });
  inspection.repeated[Symbol.dispose]();
  const { organisations, entries, counts, digest } = inspection;
  const header = (entry: number) => organisations[entries[entry] ?? -1];
  const survey = new Survey({ ...secrets, forZitadel: true, inSteps: true }, exists);
  for (const { record } of organisations) if (record !== undefined) survey.addOrganisation(record);
  for (const pass of ['collect', 'judge'] as const) {
    const reader = new ExportFileReader((name) => findSection(name) !== undefined);
    for await (const chunk of source.open(signal)) {
      for (const item of reader.push(chunk))
        readItem(item, header, (record) => survey[pass](record, placeInFile(item)));
    }
  }
  return { source, digest, counts, header, ...survey };
}

/** Calls `found` with an item's record, if it is one of an imported organisation. */
export function readItem(
  item: ExportFileItem,
  header: ImportPlan['header'],
  found: (record: OrganisationRecord) => void,
): void {
  const section = findSection(item.name);
  const organisation = item.organisation === undefined ? undefined : header(item.organisation);
  if (section === undefined || organisation === undefined) return;
  const value = withAdditions(section, parseJson(item.text, item.path), organisation.additions);
  found(readRecord(section, value, organisation.orgId));
}

/** Returns the place of an item, as `ImportPlan.withheld` has it. */
export function placeInFile({ path }: Pick<ExportFileItem, 'path'>): string {
  return path.join('/');
}

/** What two passes over the file find: the second one needs to know what the whole file holds. */
class Survey {
  readonly leftToDo: LeftToDo;
  readonly providers = new Map<string, string>();
  readonly withheld = new Set<string>();
  readonly withheldSections: Counts = {};
  readonly exists: ImportPlan['exists'];
  private readonly names = new Set<string>();
  private readonly passwordless = new Set<string>();
  /** The organisations of projects. */
  private readonly projects = new Map<string, string>();
  private readonly withKeys: boolean;

  constructor(content: FileContent, exists: ImportPlan['exists']) {
    this.exists = exists;
    this.withKeys = content.withKeys;
    this.leftToDo = new LeftToDo(content);
  }

  addOrganisation(record: OrganisationRecord): void {
    this.leftToDo.addRecord(record.section, document(record));
  }

  collect(record: OrganisationRecord, place: string): void {
    const { section, json, orgId, credentials } = record;
    if (section.name === 'passwordlessRegistrationMessages') this.passwordless.add(orgId);
    if (section.name === 'projects') this.projects.set(textAt(json, 'projectId', orgId), orgId);
    if (section.exported?.providerType === undefined) return;
    // ZITADEL refuses a whole request for an OIDC provider without secret.
    if (section.credentials !== undefined && credentials.clientSecret === undefined) this.withhold(record, place);
    else this.providers.set(textAt(json, 'idpId', orgId), orgId);
  }

  judge(record: OrganisationRecord, place: string): void {
    const { section, json, orgId } = record;
    const stored = document(record);
    if ((section.keys === true && !this.withKeys) || droppedSections.includes(section.name))
      this.withhold(record, place);
    this.leftToDo.addRecord(section, stored);
    const isMissing = (id: string) => this.providers.get(id) !== orgId;
    const { exported, holds } = section;
    const named = exported?.providers?.(json) ?? [];
    const held = holds === undefined ? [] : textsAt(json, `${holds.list}[].configId`, '');
    if (holds !== undefined && !this.exists(record))
      this.countWithheld(holds.section.name, held.filter(isMissing).length);
    this.leftToDo.addMissingProviders(section, stored, [...named, ...held].filter(isMissing));
    if (section.name === 'inviteUserMessages' && !this.passwordless.has(orgId)) {
      this.leftToDo.addKnown(invitationsAlone, section, stored);
      this.withhold(record, place);
    }
    // ZITADEL exports each project's members under every organisation, and imports them under the project's own only.
    const owner = section.name === 'projectMembers' ? this.projects.get(textAt(json, 'projectId', orgId)) : undefined;
    if (owner !== undefined && owner !== orgId) this.withhold(record, place);
    const [kind, scope, name] = caseless[section.name] ?? [];
    if (kind === undefined || scope === undefined || name === undefined) return;
    const folded = JSON.stringify([kind, textAt(json, scope, orgId), textAt(json, name, orgId).toLowerCase()]);
    if (this.names.has(folded)) {
      this.leftToDo.addKnown(equalButForCase, section, stored);
      this.withhold(record, place);
    }
    this.names.add(folded);
  }

  private withhold(record: OrganisationRecord, place: string): void {
    if (this.withheld.has(place)) return;
    this.withheld.add(place);
    if (!this.exists(record)) this.countWithheld(record.section.name, 1);
  }

  private countWithheld(section: string, count: number): void {
    increase(this.withheldSections, section, count);
  }
}

function document(record: OrganisationRecord) {
  return { id: '', ...storedFields(record) };
}
