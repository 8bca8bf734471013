import { defaultExportOptions } from '../../../functions/export/contract.ts';
import { firstIds, organisationsExist } from '../../../shared/errors/errors.ts';
import { inspect } from '../../../shared/exportFile/inspection.ts';
import type { FieldDifference } from '../../../shared/organisation/equality.ts';
import { reportedId } from '../../../shared/organisation/recordPlan.ts';
import { isClosed as isClosedState, stateFields } from '../../../shared/organisation/states.ts';
import { haveStates } from '../../../shared/organisation/zitadelReleases.ts';
import { makeRepeatable } from '../../exports/fileContent.ts';
import { accepts, type PlaceImportOptions } from '../../exports/placeInterfaces.ts';
import type { RunDatabase } from '../../records/runDatabase.ts';
import { type ZitadelSide, zitadelReason } from '../expectedDifferences.ts';
import { type ListedOrganisations, listZitadelOrganisations, openZitadelExport } from '../export/exportContent.ts';
import { requireStates } from '../export/omittedStates.ts';
import { type DoomedRecords, differsByDoomed } from '../mirror/doomedRecords.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { readCaller, readInstance } from '../zitadelInstance.ts';
import { mustBeClosed } from './closable.ts';
import type { LedgerRecord } from './ledger.ts';

export interface TargetRecord {
  readonly found: 'missing' | 'equal' | 'different';
  /** The paths of fields that differ without a known reason. */
  readonly paths: readonly string[];
  /** Whether the record in ZITADEL is inactive, or is a user who cannot log in. */
  readonly isClosed: boolean;
}

export class TargetRecords {
  private readonly database: RunDatabase;
  readonly zitadel: ZitadelSide;
  doomed: DoomedRecords = new Map();
  readonly organisations: ListedOrganisations;

  private constructor(database: RunDatabase, zitadel: ZitadelSide, organisations: ListedOrganisations) {
    this.database = database;
    this.zitadel = zitadel;
    this.organisations = organisations;
  }

  /**
   * Reads ZITADEL's records without secrets, because an import never changes secrets that ZITADEL already has, and
   * exports without secrets are four times as fast.
   * @param database receives the records as the second side, unless its second side is already complete
   * @throws IdentityError ORGANISATIONS_EXIST if an organisation exists and `onConflict` is `fail`
   */
  static async read(
    connection: ZitadelConnection,
    { withKeys, onConflict, accepted, timeoutMs }: PlaceImportOptions,
    orgIds: readonly string[],
    database: RunDatabase,
  ): Promise<TargetRecords> {
    const organisations = await listZitadelOrganisations(connection);
    const existing = orgIds.filter((id) => organisations.has(id));
    if (onConflict === 'fail' && existing.length > 0) throw organisationsExist({ orgIds: firstIds(existing) });
    const domains = existing.length > 0 ? (await readInstance(connection)).domains : [];
    // Exports of old releases contain no states, so all records in them look active. Only a search returns the states.
    const { imports } = database;
    const { releases } = imports.target;
    const acceptsUnknown = accepts({ accepted }, 'unknown-states');
    if (!haveStates(releases)) await requireStates({ connection, acceptsUnknown }, await readCaller(connection));
    // ZITADEL's exports can lack a new record at the time of this reading. If the import sends such a record, ZITADEL
    // reports it as existing, and the import reads the records again.
    if (!database.isSecondComplete) database.second.reset();
    if (!database.isSecondComplete && existing.length > 0) {
      const selection = { ...defaultExportOptions, orgIds: existing, withKeys, accepted, timeoutMs };
      const content = openZitadelExport(connection, selection);
      await using exported = await makeRepeatable(content, connection.signal);
      await inspect(exported, connection.signal, { visitor: database.second });
    }
    return new TargetRecords(database, { side: 'second', releases, domains, imports }, organisations);
  }

  find({ key, record }: Pick<LedgerRecord, 'key' | 'record'>): TargetRecord {
    const { section, orgId } = record;
    const shared = key === null ? undefined : this.database.find(key);
    if (shared === undefined) return { found: 'missing', paths: [], isClosed: false };
    const { second, fields } = shared;
    const id = reportedId(record) || orgId;
    const isClosed = isClosedState(second.state?.value);
    // Ignores two kinds of differences. If a record is open but closed in the file, the import closes it or reports it.
    // References to deleted records disappear when ZITADEL deletes those records.
    const isSettled = (field: FieldDifference) =>
      (mustBeClosed(record) && !isClosed && stateFields.includes(field.path)) ||
      differsByDoomed(record, field, this.doomed);
    const others = fields.filter((field) => !isSettled(field));
    const difference = { outcome: 'different', section: section.name, orgId, id, fields: others } as const;
    const isEqual = others.length === 0 || zitadelReason(difference, this.zitadel) !== undefined;
    const paths = isEqual ? [] : others.map(({ path }) => path);
    return { found: isEqual ? 'equal' : 'different', paths, isClosed };
  }
}
