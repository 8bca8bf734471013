import type { BoundedList } from '../../../shared/collections/boundedList.ts';
import { organisationsExist } from '../../../shared/errors/errors.ts';
import { type ComparedPair, Comparison, type RecordDifference } from '../../../shared/exportFile/comparison.ts';
import { inspect, type RecordVisitor } from '../../../shared/exportFile/inspection.ts';
import { isClosed } from '../../../shared/exportFile/leftToDoRules.ts';
import type { ExportFileSource } from '../../../shared/exportFile/reader.ts';
import { parseObject, textAt } from '../../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { reportedId } from '../../../shared/organisation/recordPlan.ts';
import { repeatable } from '../../exports/content.ts';
import type { ExportContent, ImportOptions } from '../../exports/place.ts';
import type { ZitadelConnection } from '../connection.ts';
import { type ZitadelSide, zitadelReason } from '../expectedDifferences.ts';
import { exportContent, listOrganisations } from '../export/exportContent.ts';
import { requireStates } from '../export/states.ts';
import type { FileLosses } from '../fileLosses.ts';
import { importsStates, readCaller, readInstance } from '../instance.ts';

/** The number of differing records that are listed. */
const MAX_LISTED = 10_000;

/** How many records of a section the ZITADEL has. */
interface SectionState {
  /** Those with equal content, as far as its exports show that. */
  readonly equal: number;
  /** Those with other content. */
  readonly different: number;
  readonly missing: number;
}

/** An import on its way, with what all of its steps need. */
export interface ZitadelImport {
  readonly connect: (signal: AbortSignal) => ZitadelConnection;
  readonly connection: ZitadelConnection;
  readonly file: ExportContent;
  readonly options: ImportOptions;
  readonly isSelected: (orgId: string) => boolean;
}

/** The export that says what is there: without secrets, which are not compared. */
const nothing = { excludedOrgIds: [], withPasswords: false, withOtp: false, forZitadel: false, timeoutMs: undefined };

/** What a ZITADEL has of a file's records. */
export class TargetState implements Disposable {
  private readonly comparison: Comparison;
  private readonly orgIds: ReadonlySet<string>;
  /**
   * The organisations that no import of this file can have created: they have records that it does not have, or has with
   * other content.
   */
  /** The sections and ids of the records that the ZITADEL has with other content. */
  private readonly others = new Set<string>();
  /** Those of the organisations and users that have no access there. */
  private readonly closed = new Set<string>();
  /** Whether the ZITADEL imports states. */
  readonly importsStates: boolean;

  private constructor(orgIds: readonly string[], withKeys: boolean, zitadel: ZitadelSide) {
    this.orgIds = new Set(orgIds);
    this.importsStates = zitadel.importsStates;
    this.comparison = new Comparison({ withPasswords: false, withOtp: false, withKeys }, MAX_LISTED, {
      explain: (difference) => this.explain(difference, zitadel),
      ignoresRepeats: true,
      pairs: { addPair: (pair) => this.addState(pair), reset: () => this.reset() },
    });
  }

  /**
   * Compares a file with what a ZITADEL has of its organisations. Secrets are not compared: a ZITADEL never changes them,
   * and exports without them are four times as fast.
   * @param losses what the ZITADEL cannot take of the file
   * @throws IdentityError if only new organisations are to be imported, and the ZITADEL has others
   */
  static async read(importing: ZitadelImport, orgIds: readonly string[], losses: FileLosses): Promise<TargetState> {
    const { connect, connection, file, options, isSelected } = importing;
    const { signal } = connection;
    const { withKeys, newOrgsOnly, unknownStates } = options;
    const inTarget = await listOrganisations(connection);
    const existing = orgIds.filter((id) => inTarget.has(id));
    if (newOrgsOnly && existing.length > 0) throw organisationsExist(existing);
    const zitadel = { ...(await describeTarget(connection, existing.length > 0)), losses };
    // Who is active after the import is known only by a search.
    if (!zitadel.importsStates) await requireStates({ connection, unknownStates }, await readCaller(connection));
    using resources = new DisposableStack();
    const state = resources.use(new TargetState(existing, withKeys, zitadel));
    if (existing.length > 0) {
      const content = exportContent(connect, { ...nothing, orgIds: existing, withKeys, unknownStates });
      await using exported = await repeatable(content, signal);
      await visit(exported, signal, () => true, state.comparison.first);
    }
    await visit(file, signal, isSelected, state.comparison.second);
    state.comparison.finish();
    resources.move();
    return state;
  }

  has(record: OrganisationRecord): boolean {
    return this.orgIds.has(record.orgId) && this.comparison.has(record);
  }

  /** Whether the ZITADEL has a record with equal content, as far as its exports show that. */
  hasEqual(record: OrganisationRecord): boolean {
    return this.has(record) && !this.others.has(nameOf(record));
  }

  /** Whether the ZITADEL has an organisation or user that has no access there. */
  isClosed(record: OrganisationRecord): boolean {
    return this.has(record) && this.closed.has(nameOf(record));
  }

  /** The numbers of records by section. Keys are counted only where they are imported. */
  get sections(): ReadonlyMap<string, SectionState> {
    return new Map(
      [...this.comparison.counts].map(([section, { equal, different, differentAsExpected, onlySecond }]) => [
        section,
        { equal: equal + differentAsExpected, different, missing: onlySecond },
      ]),
    );
  }

  /** The records that the ZITADEL has with other content. */
  get differences(): Pick<BoundedList<RecordDifference>, 'entries' | 'omitted'> {
    return this.comparison.differences;
  }

  [Symbol.dispose](): void {
    this.comparison[Symbol.dispose]();
  }

  /** Returns why a record need not be listed: only those with other content are. */
  private explain(difference: RecordDifference, zitadel: ZitadelSide): string | undefined {
    const { outcome, section, id } = difference;
    if (outcome === 'onlySecond') return 'ZITADEL does not have it';
    const reason = zitadelReason(difference, zitadel);
    if (outcome === 'onlyFirst') return 'the file does not have it';
    if (reason === undefined) this.others.add(`${section} ${id}`);
    return reason;
  }

  private addState({ section, id, first: { body } }: ComparedPair): void {
    // Only a ZITADEL that imports no states must be given them by hand.
    if (this.importsStates) return;
    const record = parseObject(body);
    const state = textAt(record, 'state', '') || textAt(record, 'orgState', '');
    if (state !== '' && isClosed(state)) this.closed.add(`${section} ${id}`);
  }

  private reset(): void {
    for (const found of [this.others, this.closed]) found.clear();
  }
}

function nameOf(record: OrganisationRecord): string {
  return `${record.section.name} ${reportedId(record) || record.orgId}`;
}

/** Describes a ZITADEL, as far as it explains what it has besides the file. */
async function describeTarget(connection: ZitadelConnection, hasContent: boolean): Promise<ZitadelSide> {
  const states = { importsStates: await importsStates(connection) };
  if (!hasContent) return { side: 'first', domains: [], ...states };
  const { domains } = await readInstance(connection);
  return { side: 'first', domains, ...states };
}

async function visit(
  source: ExportFileSource,
  signal: AbortSignal,
  isSelected: (orgId: string) => boolean,
  visitor: RecordVisitor,
): Promise<void> {
  await inspect(source, signal, { isSelected, visitor });
}
