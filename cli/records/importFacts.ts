import type { TemporaryDatabase } from '../../shared/collections/temporaryDatabase.ts';
import { textAt } from '../../shared/json/jsonObject.ts';
import { isRefusedByDefault } from '../../shared/organisation/hashFormats.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import { reportedId } from '../../shared/organisation/recordPlan.ts';
import { domainPolicySection } from '../../shared/organisation/sections/policies.ts';
import { equalButForCase, type FileRecords, type RecordFact } from '../../shared/organisation/zitadelFacts.ts';
import { allReleases, contains, overlap, type ReleaseRange } from '../../shared/organisation/zitadelReleases.ts';

/** Finds records of a file whose names are equal except for case, if ZITADEL ignores case in these names. */
export class CaselessNames {
  private readonly holds: (fact: ReleaseRange) => boolean;
  private readonly ids = new Map<string, string>();

  /** @param holds returns whether the given range of releases applies to the ZITADEL instance */
  constructor(holds: (fact: ReleaseRange) => boolean) {
    this.holds = holds;
  }

  /**
   * Returns the id of the first record with the same name. Returns undefined if the given record is the first, or if
   * names that differ only in case are different names for ZITADEL.
   */
  earlier(record: OrganisationRecord): string | undefined {
    const { section, json, orgId } = record;
    const { caseless } = section.zitadel ?? {};
    if (caseless === undefined || !this.holds(caseless)) return undefined;
    const { kind, scope, name } = caseless;
    const folded = JSON.stringify([kind, textAt(json, scope, orgId), textAt(json, name, orgId).toLowerCase()]);
    const earlier = this.ids.get(folded);
    if (earlier === undefined) this.ids.set(folded, reportedId(record));
    return earlier;
  }

  clear(): void {
    this.ids.clear();
  }
}

/** A fact about a kind of records that ZITADEL does not import. */
type ImportLoss = Extract<RecordFact, { readonly does: 'imports not' }>;

const unknownRecords: FileRecords = { ownerOf: () => undefined, hasPasswordlessTexts: () => false };

/** Returns the facts about ZITADEL that explain why at least one of its releases does not import a record. */
function lossesOf(record: OrganisationRecord, file: FileRecords | undefined): ImportLoss[] {
  const { records = [] } = record.section.zitadel ?? {};
  return records
    .filter((fact) => fact.does === 'imports not')
    .filter(({ dependsOnFile }) => file !== undefined || dependsOnFile !== true)
    .filter(({ when }) => when?.(record, file ?? unknownRecords) ?? true);
}

const TABLES = `
  CREATE TABLE importedProviders (orgId TEXT, id TEXT, isUncertain INTEGER, isWithheld INTEGER, PRIMARY KEY (orgId, id))
    STRICT, WITHOUT ROWID;
  CREATE TABLE importedProjects (id TEXT PRIMARY KEY, orgId TEXT) STRICT, WITHOUT ROWID;
  CREATE TABLE loginPolicies (orgId TEXT PRIMARY KEY, isByDomain INTEGER) STRICT, WITHOUT ROWID;
  CREATE TABLE passwordless (orgId TEXT PRIMARY KEY) STRICT, WITHOUT ROWID`;
const PROVIDER = 'INSERT OR REPLACE INTO importedProviders VALUES (?, ?, ?, 0)';
const PROJECT = 'INSERT OR REPLACE INTO importedProjects VALUES (?, ?)';
const LOGIN_NAMES = 'INSERT OR REPLACE INTO loginPolicies VALUES (?, ?)';
const PASSWORDLESS = 'INSERT OR IGNORE INTO passwordless VALUES (?)';
const FIND_PROVIDER = 'SELECT isUncertain FROM importedProviders WHERE orgId = ? AND id = ? AND isWithheld = 0';
const WITHHOLD_PROVIDER = 'UPDATE importedProviders SET isWithheld = 1 WHERE orgId = ? AND id = ?';
const RESTART = 'UPDATE importedProviders SET isWithheld = 0';

export interface ImportTarget {
  readonly releases: ReleaseRange;
  /** Whether the import omits those password hashes that could cause ZITADEL to reject people. */
  readonly omitsHashes: boolean;
}

/** Stands for a ZITADEL instance of unknown release. The import sends all password hashes to it. */
export const anyZitadel: ImportTarget = { releases: allReleases, omitsHashes: false };

/** Facts about the valid records of a file. These facts decide how ZITADEL imports the file. */
export class ImportFacts implements FileRecords {
  readonly target: ImportTarget;
  private readonly database: TemporaryDatabase;
  private readonly names: CaselessNames;

  constructor(database: TemporaryDatabase, target: ImportTarget) {
    this.target = target;
    this.database = database;
    this.names = new CaselessNames((fact) => overlap(fact, target.releases));
    database.create(TABLES);
  }

  /**
   * Stores those facts about a record that affect other records.
   * @returns a reason why ZITADEL might not import the record. Ignores reasons that depend on later records of the
   * file
   */
  note(record: OrganisationRecord): string | undefined {
    const { section, orgId, json } = record;
    if (record.invalid !== undefined) return undefined;
    const losses = lossesOf(record, undefined);
    const loss = this.possible(losses);
    if (section.exported?.providerType !== undefined && !this.isCertain(losses))
      this.database.run(PROVIDER, orgId, textAt(json, 'idpId', orgId), Number(loss !== undefined));
    if (section.name === 'projects') this.database.run(PROJECT, textAt(json, 'projectId', orgId), orgId);
    if (section.name === 'passwordlessRegistrationMessages') this.database.run(PASSWORDLESS, orgId);
    if (section === domainPolicySection)
      this.database.run(LOGIN_NAMES, orgId, Number(json.userLoginMustBeDomain === true));
    const earlier = this.names.earlier(record);
    return earlier !== undefined && earlier !== reportedId(record) ? equalButForCase.text : loss?.text;
  }

  reset(): void {
    this.names.clear();
    for (const table of ['importedProviders', 'importedProjects', 'loginPolicies', 'passwordless'])
      this.database.run(`DELETE FROM ${table}`);
  }

  /** Reverses the effect of all calls of `withhold`. */
  restart(): void {
    this.database.run(RESTART);
  }

  /**
   * Leaves an identity provider out of the import, because its id belongs to another record, or because ZITADEL has
   * deleted its organisation.
   */
  withhold({ section, json, orgId }: OrganisationRecord): void {
    if (section.exported?.providerType !== undefined)
      this.database.run(WITHHOLD_PROVIDER, orgId, textAt(json, 'idpId', orgId));
  }

  /** True if no possible release of ZITADEL imports the record. The import then does not send the record. */
  isLost(record: OrganisationRecord): boolean {
    return this.isCertain(lossesOf(record, this));
  }

  /**
   * Returns a fact that explains why ZITADEL may not import a record. Returns undefined if every possible release
   * imports the record.
   */
  possibleLoss(record: OrganisationRecord): ImportLoss | undefined {
    return this.possible(lossesOf(record, this));
  }

  hasProvider(orgId: string, id: string): boolean {
    return this.database.statement(FIND_PROVIDER).get(orgId, id) !== undefined;
  }

  /** Whether ZITADEL might not have an identity provider of an organisation after the import. */
  mayLackProvider(orgId: string, id: string): boolean {
    return this.database.statement(FIND_PROVIDER).get(orgId, id)?.isUncertain !== 0;
  }

  omitsHash({ credentials: { passwordHash } }: Pick<OrganisationRecord, 'credentials'>): boolean {
    return this.target.omitsHashes && passwordHash !== undefined && isRefusedByDefault(passwordHash);
  }

  ownerOf(projectId: string): string | undefined {
    const owner = this.database.statement('SELECT orgId FROM importedProjects WHERE id = ?').get(projectId)?.orgId;
    return typeof owner === 'string' ? owner : undefined;
  }

  hasPasswordlessTexts(orgId: string): boolean {
    return this.database.statement('SELECT 1 FROM passwordless WHERE orgId = ?').get(orgId) !== undefined;
  }

  /**
   * True if the domain policy of an organisation makes login names unique only within the organisation. False if it
   * makes them unique within the whole instance. Undefined if the organisation has no domain policy of its own.
   */
  loginNamesByDomain(orgId: string): boolean | undefined {
    const columns = this.database.statement('SELECT isByDomain FROM loginPolicies WHERE orgId = ?').get(orgId);
    return columns && columns.isByDomain === 1;
  }

  private possible(losses: readonly ImportLoss[]): ImportLoss | undefined {
    return losses.find((fact) => overlap(fact, this.target.releases));
  }

  private isCertain(losses: readonly ImportLoss[]): boolean {
    return losses.some((fact) => contains(fact, this.target.releases));
  }
}
