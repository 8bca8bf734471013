import type { ImportWarning } from '../../../functions/import/contract.ts';
import { BoundedList } from '../../../shared/collections/boundedList.ts';
import { defined } from '../../../shared/defined.ts';
import { because } from '../../../shared/errors/recordIssues.ts';
import { warn } from '../../../shared/errors/warnings.ts';
import { LeftToDo } from '../../../shared/exportFile/leftToDo.ts';
import { repeatedName, rulesOf } from '../../../shared/exportFile/leftToDoRules.ts';
import type { OrganisationHeader } from '../../../shared/exportFile/organisationDraft.ts';
import { textAt } from '../../../shared/json/jsonObject.ts';
import {
  claimsLoginNames,
  organisationNameTaken,
  organisationSection,
} from '../../../shared/organisation/allSections.ts';
import { normaliseRecord } from '../../../shared/organisation/normaliseRecord.ts';
import { giftOf, privilegeWarning } from '../../../shared/organisation/privileges.ts';
import { type OrganisationRecord, storedFields } from '../../../shared/organisation/record.ts';
import { MAX_LISTED_ISSUES } from '../../../shared/organisation/recordErrors.ts';
import { reportedIssue } from '../../../shared/organisation/relations.ts';
import { humanUserSection, SEED_TYPE, userNameTaken } from '../../../shared/organisation/sections/users.ts';
import { valueWarnings } from '../../../shared/organisation/valueWarnings.ts';
import { contains, overlap } from '../../../shared/organisation/zitadelReleases.ts';
import { userKey } from '../../../shared/store/documentKeys.ts';
import { documentPath } from '../../../shared/store/store.ts';
import { type FileSecrets, providersOf } from '../../exports/fileFacts.ts';
import type { PlaceImportOptions } from '../../exports/placeInterfaces.ts';
import { CaselessNames, type ImportFacts } from '../../records/importFacts.ts';
import type { ListedOrganisations } from '../export/exportContent.ts';
import { peopleWithFactor } from '../factorEvents.ts';
import type { IdOwners } from '../ownership/idOwners.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { closables } from './closable.ts';
import { eventParams, type Verdict } from './evidence.ts';
import { judgeRecords, type Subject } from './histories.ts';
import type { ImportLedger, LedgerEntry, LedgerIssue, LedgerRecord } from './ledger.ts';
import type { TargetRecords } from './targetRecords.ts';

export interface SurveyedFile {
  readonly ledger: ImportLedger;
  readonly owners: IdOwners;
  readonly secrets: FileSecrets;
  readonly imports: ImportFacts;
  readonly target: TargetRecords;
  readonly options: Pick<PlaceImportOptions, 'withKeys' | 'onConflict' | 'asked'>;
  /**
   * True if the instance's domain policy makes login names unique only within an organisation. False if it makes them
   * unique within the whole instance.
   */
  readonly loginNamesByDomain: boolean;
  /**
   * The errors about records that refer to a user whom neither the file nor ZITADEL has. The keys are the positions of
   * the records in the ledger.
   */
  readonly withoutUser: ReadonlyMap<number, LedgerIssue>;
  readonly callerId: string;
  /**
   * The organisations whose names already belong to other organisations. ZITADEL rejects these organisations with all
   * their records.
   */
  readonly refusedOrgIds: ReadonlySet<string>;
}

/**
 * Returns the ids of new organisations whose names are taken, either by an organisation in ZITADEL or by an earlier
 * organisation of the file.
 */
export function organisationsWithTakenNames(
  organisations: readonly Pick<OrganisationHeader, 'orgId' | 'record'>[],
  existing: ListedOrganisations,
): Set<string> {
  const folded = (name: string) => name.trim().toLowerCase();
  const holders = new Map([...existing].map(([orgId, { name }]) => [folded(name), orgId]));
  const taken = new Set<string>();
  for (const { orgId, record } of organisations) {
    if (record === undefined || record.invalid !== undefined) continue;
    const name = folded(textAt(record.json, 'org.name', orgId));
    const holder = holders.get(name) ?? orgId;
    holders.set(name, holder);
    if (holder !== orgId && !existing.has(orgId)) taken.add(orgId);
  }
  return taken;
}

/**
 * Compares each record of a file with ZITADEL's existing records, and decides whether the import sends it.
 * @param onCompared called with the number of compared records. A person with a TOTP seed is counted after the decision
 * about the seed
 * @returns the number of existing people for whom the file contains a password or a TOTP seed
 */
export async function decideAll(
  file: SurveyedFile,
  connection: ZitadelConnection,
  onCompared: (records: number) => void,
): Promise<number> {
  const { ledger } = file;
  const names = new CaselessNames((fact) => contains(fact, file.imports.target.releases));
  const withSeed: PersonWithSeed[] = [];
  let [withSecrets, isHolderTaken, compared] = [0, false, 0];
  for await (const ledgerRecord of ledger.records(connection.signal)) {
    onCompared(compared - withSeed.length);
    compared++;
    const { record } = ledgerRecord;
    const isKept = ledgerRecord.isHeld ? isHolderTaken : !withholds(file, record, names);
    const entry = decide(file, ledgerRecord, isKept);
    if (!ledgerRecord.isHeld) isHolderTaken = entry.foreseen === 'created';
    ledger.enter(ledgerRecord, entry);
    if (record.section !== humanUserSection || ['missing', 'taken'].includes(entry.found ?? 'missing')) continue;
    const { credentials, clearPassword } = record;
    const { passwordHash = clearPassword, totpSeed } = credentials;
    if ((passwordHash ?? totpSeed) !== undefined) withSecrets++;
    if (totpSeed !== undefined && entry.outcome !== 'notCarried') withSeed.push(personOf(ledgerRecord, entry));
  }
  onCompared(compared - withSeed.length);
  await decideSeeds(file, connection, withSeed);
  await decideClosings(file, connection);
  onCompared(compared);
  return withSecrets;
}

interface PersonWithSeed extends Subject {
  readonly userId: string;
  readonly isEqual: boolean;
}

function personOf({ position, record }: LedgerRecord, { outcome }: LedgerEntry): PersonWithSeed {
  const { section, orgId, json } = record;
  const userId = textAt(json, 'userId', orgId);
  return { position, record: { section, orgId, json: { userId } }, userId, isEqual: outcome === 'unchanged' };
}

/**
 * Decides which existing people get the TOTP seed of the file. Only people whom an interrupted import has created
 * without their seed get it. The factors of all other people may have been removed on purpose.
 */
async function decideSeeds(
  { ledger, callerId }: SurveyedFile,
  connection: ZitadelConnection,
  withSeed: readonly PersonWithSeed[],
): Promise<void> {
  const missing: PersonWithSeed[] = [];
  for (const [orgId, people] of Map.groupBy(withSeed, ({ record }) => record.orgId)) {
    const withTotp = await peopleWithFactor(connection, orgId, 'totp');
    missing.push(...people.filter(({ userId }) => !withTotp.has(userId)));
  }
  if (missing.length === 0) return;
  const verdicts = await judgeRecords(connection, callerId, missing);
  for (const person of missing) {
    const verdict = verdicts.get(person.position) ?? { is: 'foreign' };
    if (verdict.is === 'ours' && person.isEqual) ledger.enter(person, { foreseen: 'overwritten', outcome: undefined });
    else ledger.addProblem(person, { type: SEED_TYPE, ...seedIssue(verdict) });
  }
}

function seedIssue(verdict: Verdict): LedgerIssue {
  if (verdict.is === 'ours') return because('seed_of_different_person', {});
  const { event } = verdict;
  return event === undefined
    ? because('seed_of_foreign_person', {})
    : because('seed_of_changed_person', eventParams(event));
}

const closableSections = closables.flatMap(({ sections }) => sections);

/**
 * Decides which open records in ZITADEL the import closes. These records are closed in the file. An earlier import has
 * created each of them, but has not closed it.
 */
export async function decideClosings({ ledger, callerId }: SurveyedFile, connection: ZitadelConnection): Promise<void> {
  const open = ledger.toClose(closableSections, 'existing');
  if (open.length === 0) return;
  const verdicts = await judgeRecords(connection, callerId, open);
  for (const record of open) {
    const verdict = verdicts.get(record.position) ?? { is: 'foreign' };
    if (verdict.is === 'ours' || verdict.is === 'factors') ledger.noteChange(record);
    else {
      const { event } = verdict;
      const state = record.record.state?.value ?? '';
      ledger.settleClosing(record);
      ledger.addProblem(
        record,
        event === undefined
          ? because('open_foreign', { state })
          : because('open_after_event', { state, ...eventParams(event) }),
      );
    }
  }
}

/** @param isKept whether ZITADEL can import the record */
function decide(file: SurveyedFile, ledgerRecord: LedgerRecord, isKept: boolean): LedgerEntry {
  const { ledger, imports, target, options } = file;
  const { record, id, isHeld, issues, withheld } = ledgerRecord;
  const { found, paths, isClosed } = target.find(ledgerRecord);
  const holder = ledger.earlierWithKey(ledgerRecord);
  const isRepeated = holder !== undefined;
  if (isClosed || isRepeated) ledger.settleClosing(ledgerRecord);
  const hasLoginName = isRepeated || isLoginNameFree(file, record);
  const inTarget = { found };
  // An earlier person of the file has the same external identity. ZITADEL accepts an external identity only once.
  if (isRepeated && isLink(record) && holder !== id)
    return { ...inTarget, outcome: 'failed', issues: [because('identity_taken', { holder })] };
  if (found !== 'missing') {
    if (isRepeated) return { ...inTarget, outcome: 'notCarried' };
    if (found === 'equal') return { ...inTarget, outcome: 'unchanged' };
    if (options.onConflict !== 'report') return { ...inTarget, outcome: 'skipped' };
    return { ...inTarget, outcome: 'failed', issues: [because('content_kept', { fields: paths })] };
  }
  if (withheld !== null) return { found: 'taken', foreseen: 'failed', outcome: 'failed', issues };
  if (file.refusedOrgIds.has(record.orgId)) {
    const ofName = record.section === organisationSection ? [ORGANISATION_NAME_TAKEN] : [];
    return { ...inTarget, foreseen: 'failed', outcome: undefined, issues: ofName };
  }
  const lacksProvider = providersNotTaken(imports, record).length > 0;
  if (!isKept || (isHeld && lacksProvider)) return { ...inTarget, outcome: 'notCarried' };
  // ZITADEL rejects a record whose id has already been imported. It also rejects a link to an identity provider that it
  // does not have.
  const isRefused = isRepeated || (isLink(record) && lacksProvider);
  if (!hasLoginName) return { ...inTarget, foreseen: 'failed', outcome: undefined, issues: [LOGIN_NAME_TAKEN] };
  const userMissing = file.withoutUser.get(ledgerRecord.position);
  if (userMissing !== undefined) return { ...inTarget, foreseen: 'failed', outcome: undefined, issues: [userMissing] };
  return { ...inTarget, foreseen: isRefused ? 'notCarried' : 'created', outcome: undefined };
}

// Errors that ZITADEL will report. A dry run reports them in advance.
const ORGANISATION_NAME_TAKEN = reportedIssue(organisationNameTaken);
const LOGIN_NAME_TAKEN = reportedIssue(userNameTaken);

/**
 * Reserves the login name of a record. Returns false if another user in ZITADEL, or an earlier user of the file, has
 * the same name. If the domain policy makes names unique only within an organisation, ignores users of other
 * organisations. Returns true for a record without a login name.
 */
function isLoginNameFree(file: SurveyedFile, { section, json, orgId }: OrganisationRecord): boolean {
  if (!claimsLoginNames(section)) return true;
  const { ledger, owners, imports, target, loginNamesByDomain } = file;
  const name = textAt(json, 'user.userName', orgId).toLowerCase();
  const isScoped = imports.loginNamesByDomain(orgId) ?? loginNamesByDomain;
  if (!ledger.claimLoginName(JSON.stringify(isScoped ? [name, orgId] : [name]))) return false;
  const id = textAt(json, 'userId', orgId);
  return !owners.usersNamed(name).some((user) => {
    const isOther = user.userId !== id && !target.doomed.has(documentPath(userKey(user.userId)));
    const isOtherScoped = user.loginNamesByDomain ?? loginNamesByDomain;
    return isOther && isOtherScoped === isScoped && (!isScoped || user.orgId === orgId);
  });
}

function withholds({ imports, options }: SurveyedFile, record: OrganisationRecord, names: CaselessNames): boolean {
  if (names.earlier(record) !== undefined) return true;
  if (record.section.keys === true && !options.withKeys) return true;
  return imports.isLost(record);
}

/**
 * Whether a record links a person to an identity provider. ZITADEL rejects such a link if it does not have the
 * provider.
 */
function isLink({ section: { exported } }: OrganisationRecord): boolean {
  return exported?.providers !== undefined && exported.keepProviders === undefined;
}

function providersNotTaken(imports: ImportFacts, record: OrganisationRecord): string[] {
  return providersOf(record).filter((id) => !imports.hasProvider(record.orgId, id));
}

interface RecordNotices {
  readonly leftToDo: LeftToDo;
  /** The warnings about added privileges, converted values and deleted records that the import creates again. */
  readonly warnings: BoundedList<ImportWarning>;
}

export async function listNotices(
  { ledger, secrets, imports, options }: SurveyedFile,
  signal: AbortSignal,
): Promise<RecordNotices> {
  const { content } = secrets;
  const withKeys = options.withKeys && content.withKeys;
  const { releases } = imports.target;
  const facts = { ...content, withKeys, releases, forZitadel: true, inSteps: true };
  const leftToDo = new LeftToDo({ ...facts, ...defined({ asked: options.asked }) }, 'command');
  const names = new CaselessNames((fact) => overlap(fact, releases));
  const warnings = new BoundedList<ImportWarning>(MAX_LISTED_ISSUES);
  for await (const { record, id, isHeld, found, outcome, wasDeleted } of ledger.records(signal)) {
    if (isHeld || found === 'taken') continue;
    const gift = outcome === 'created' ? giftOf(record) : undefined;
    const isAdded = gift !== undefined && !ledger.hasCreated(documentPath(gift.target));
    const privilege = isAdded ? privilegeWarning(gift, record) : undefined;
    if (privilege !== undefined) warnings.add(privilege);
    const { section } = record;
    if (outcome === 'created') {
      const ofRecord = wasDeleted ? [warn('record_recreated', {})] : [];
      for (const warning of [...valueWarnings(normaliseRecord(record).record), ...ofRecord])
        warnings.add({ type: section.error.type, id, ...warning });
    }
    const { passwordHash, ...others } = { id: '', ...storedFields(record) };
    const isSent = passwordHash !== undefined && !imports.omitsHash(record);
    const document = isSent ? { ...others, passwordHash } : others;
    leftToDo.addRecord(section, document);
    leftToDo.addMissingProviders(section, document, providersNotTaken(imports, record));
    const loss = imports.possibleLoss(record);
    if (loss?.dependsOnFile === true) for (const rule of rulesOf(loss)) leftToDo.add(rule, section, document);
    if (names.earlier(record) !== undefined) leftToDo.add(repeatedName, section, document);
  }
  return { leftToDo, warnings };
}
