import { type Counts, increase } from '../../../shared/collections/counts.ts';
import type { Inspection, RecordVisitor } from '../../../shared/exportFile/inspection.ts';
import { LeftToDo } from '../../../shared/exportFile/leftToDo.ts';
import {
  activationRule,
  droppedSections,
  equalButForCase,
  invitationsAlone,
} from '../../../shared/exportFile/leftToDoRules.ts';
import { type OrganisationHeader, withAdditions } from '../../../shared/exportFile/organisationDraft.ts';
import { type ExportFileItem, ExportFileReader, type ExportFileSource } from '../../../shared/exportFile/reader.ts';
import { textAt, textsAt } from '../../../shared/json/jsonObject.ts';
import { parseJson } from '../../../shared/json/jsonScanner.ts';
import { type OrganisationRecord, readRecord, storedFields } from '../../../shared/organisation/record.ts';
import { reportedId } from '../../../shared/organisation/recordPlan.ts';
import { humanUserSection } from '../../../shared/organisation/sections/users.ts';
import { findSection } from '../../../shared/organisation/sections.ts';
import { FileFacts } from '../../exports/inspectPlace.ts';
import { CaselessNames, FileLosses, lacksSecret } from '../fileLosses.ts';
import type { ImportStep } from './importSteps.ts';

/** What a whole file holds, which the judgement of each of its records depends on. */
export class FileSurvey implements RecordVisitor {
  readonly facts = new FileFacts();
  readonly losses = new FileLosses();
  /** The organisations of projects. */
  readonly projects = new Map<string, string>();
  /** The organisations with texts of passwordless registration. */
  readonly passwordless = new Set<string>();

  add(record: OrganisationRecord): void {
    const { section, json, orgId } = record;
    this.facts.add(record);
    this.losses.add(record);
    if (section.name === 'passwordlessRegistrationMessages') this.passwordless.add(orgId);
    if (section.name === 'projects') this.projects.set(textAt(json, 'projectId', orgId), orgId);
  }

  reset(): void {
    for (const part of [this.facts, this.losses]) part.reset();
    for (const found of [this.projects, this.passwordless]) found.clear();
  }
}

/** A validated export file to import. */
export interface ImportedFile extends Pick<Inspection, 'organisations' | 'entries' | 'counts'> {
  readonly source: ExportFileSource;
  readonly survey: FileSurvey;
  /** Whether the file has keys that are imported. */
  readonly withKeys: boolean;
  /** Whether the ZITADEL has a record, so that it is not sent. */
  readonly exists: (record: OrganisationRecord) => boolean;
  /** Whether the ZITADEL imports states. */
  readonly importsStates: boolean;
  /** Whether the ZITADEL has an organisation or user that has no access there. */
  readonly isClosed: (record: OrganisationRecord) => boolean;
  /** Whether the ZITADEL has a person with equal content. */
  readonly hasEqualPerson: (person: OrganisationRecord) => boolean;
  /** Whether a record is not there after the import, because its id is taken; before it, nothing is known of that. */
  readonly isTaken?: (record: OrganisationRecord) => boolean;
  /** Returns those of some people who have no TOTP in the ZITADEL. */
  readonly withoutTotp: (userIds: readonly string[]) => Promise<ReadonlySet<string>>;
}

/** What of an export file is sent to a ZITADEL, and what it cannot take. */
export class ImportPlan {
  readonly source: ExportFileSource;
  readonly survey: FileSurvey;
  readonly exists: ImportedFile['exists'];
  leftToDo: LeftToDo;
  /** The numbers of records that ZITADEL cannot take and does not have, by section. */
  readonly withheldSections: Counts = {};
  /** The number of people whom the ZITADEL has, and for whom the file has passwords or TOTP seeds. */
  existingWithSecrets = 0;
  /** The ids of the people whom the ZITADEL has, but for the file's TOTP seed. */
  withoutSeed: ReadonlySet<string> = new Set();
  private readonly existingWithSeed: string[] = [];
  private readonly file: ImportedFile;
  /** The paths of records that ZITADEL cannot take. */
  private readonly withheld = new Set<string>();
  private readonly names = new CaselessNames();

  private constructor(file: ImportedFile) {
    this.file = file;
    ({ source: this.source, survey: this.survey, exists: this.exists } = file);
    const { withKeys, importsStates } = file;
    const content = { ...file.survey.facts.content, withKeys, importsStates };
    this.leftToDo = new LeftToDo({ ...content, forZitadel: true, inSteps: true });
  }

  /** Reads a file once more, and judges each of its records. */
  static async read(file: ImportedFile, signal: AbortSignal): Promise<ImportPlan> {
    const plan = new ImportPlan(file);
    for (const { record } of file.organisations)
      if (record !== undefined && file.isTaken?.(record) !== true) plan.judgeOrganisation(record);
    const reader = new ExportFileReader((name) => findSection(name) !== undefined);
    for await (const chunk of file.source.open(signal)) {
      for (const item of reader.push(chunk)) {
        const record = plan.readItem(item);
        if (record !== undefined && file.isTaken?.(record) !== true) plan.judge(record, pathOf(item));
      }
    }
    plan.withoutSeed = await file.withoutTotp(plan.existingWithSeed);
    return plan;
  }

  /** Returns the id of a person whose TOTP seed did not arrive with the rest. */
  seedOwner({ section, json, orgId }: OrganisationRecord): string | undefined {
    const userId = textAt(json, 'userId', orgId);
    return section === humanUserSection && this.withoutSeed.has(userId) ? userId : undefined;
  }

  /** Returns the id of a link that ZITADEL refuses, unless it has the identity provider, which the file lacks. */
  refusedLink(record: OrganisationRecord): string | undefined {
    const { section, json, orgId } = record;
    const { providers, keepProviders } = section.exported ?? {};
    if (providers === undefined || keepProviders !== undefined) return undefined;
    const lacks = providers(json).some((id) => !this.survey.losses.hasProvider(orgId, id));
    return lacks ? reportedId(record) : undefined;
  }

  /** Whether a step has anything to send. */
  needs({ sections, createsOrganisations }: ImportStep): boolean {
    return createsOrganisations === true || sections.some((name) => (this.file.counts[name] ?? 0) > 0);
  }

  /** Returns the organisation of an item; undefined for one that is not imported. */
  headerOf({ organisation }: ExportFileItem): OrganisationHeader | undefined {
    const { organisations, entries } = this.file;
    return organisation === undefined ? undefined : organisations[entries[organisation] ?? -1];
  }

  /** Returns an item's record, if it is one of an imported organisation. */
  readItem(item: ExportFileItem): OrganisationRecord | undefined {
    const section = findSection(item.name);
    const header = this.headerOf(item);
    if (section === undefined || header === undefined) return undefined;
    return readRecord(section, withAdditions(section, parseJson(item.text, item.path), header.additions), header.orgId);
  }

  /** Whether ZITADEL cannot take an item's record. */
  withholds(item: ExportFileItem): boolean {
    return this.withheld.has(pathOf(item));
  }

  private judge(record: OrganisationRecord, path: string): void {
    const { section, json, orgId } = record;
    const stored = document(record);
    this.leftToDo.addRecord(section, stored);
    this.judgeState(record);
    this.judgeProviders(record);
    if (section === humanUserSection && this.exists(record)) this.judgeSecrets(record);
    const isInvitation = section.name === 'inviteUserMessages' && !this.survey.passwordless.has(orgId);
    if (isInvitation) this.leftToDo.add(invitationsAlone, section, stored);
    // ZITADEL exports each project's members under every organisation, and imports them under the project's own only.
    const isMember = section.name === 'projectMembers';
    const owner = isMember ? this.survey.projects.get(textAt(json, 'projectId', orgId)) : undefined;
    const isRepeated = this.names.earlier(record) !== undefined;
    if (isRepeated) this.leftToDo.add(equalButForCase, section, stored);
    const isDropped = (section.keys === true && !this.file.withKeys) || droppedSections.includes(section.name);
    const isForeign = owner !== undefined && owner !== orgId;
    if (!(isDropped || isInvitation || isForeign || isRepeated || lacksSecret(record))) return;
    this.withheld.add(path);
    if (!this.exists(record)) increase(this.withheldSections, section.name);
  }

  private judgeOrganisation(record: OrganisationRecord): void {
    this.leftToDo.addRecord(record.section, document(record));
    this.judgeState(record);
  }

  /** Lists an organisation or user that the ZITADEL activates. */
  private judgeState(record: OrganisationRecord): void {
    const { section, state } = record;
    const rule = this.file.importsStates ? undefined : activationRule(section.name, state);
    if (rule !== undefined && !this.file.isClosed(record)) this.leftToDo.add(rule, section, document(record));
  }

  private judgeSecrets(person: OrganisationRecord): void {
    const { json, orgId, credentials, clearPassword } = person;
    const { passwordHash = clearPassword, totpSeed } = credentials;
    if (passwordHash !== undefined || totpSeed !== undefined) this.existingWithSecrets++;
    if (totpSeed !== undefined && this.file.hasEqualPerson(person))
      this.existingWithSeed.push(textAt(json, 'userId', orgId));
  }

  /** Lists the providers that a record names and ZITADEL will not have. */
  private judgeProviders(record: OrganisationRecord): void {
    const { section, json, orgId } = record;
    const { nested } = section;
    const isMissing = (id: string) => !this.survey.losses.hasProvider(orgId, id);
    const held = nested === undefined ? [] : textsAt(json, `${nested.list}[].configId`, '').filter(isMissing);
    if (nested !== undefined && !this.exists(record)) increase(this.withheldSections, nested.section.name, held.length);
    if (this.refusedLink(record) !== undefined && !this.exists(record)) increase(this.withheldSections, section.name);
    const named = (section.exported?.providers?.(json) ?? []).filter(isMissing);
    this.leftToDo.addMissingProviders(section, document(record), [...named, ...held]);
  }
}

function pathOf({ path }: ExportFileItem): string {
  return path.join('/');
}

function document(record: OrganisationRecord) {
  return { id: '', ...storedFields(record) };
}
