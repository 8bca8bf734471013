import { inspect, type RecordVisitor } from '../../../functions/import/inspect/inspection.ts';
import type { ExportFileSource } from '../../../functions/import/source/exportFileReader.ts';
import type { BoundedList } from '../../../shared/collections/boundedList.ts';
import { type Counts, increase } from '../../../shared/collections/counts.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { Comparison, type RecordDifference } from '../../compare/comparison.ts';
import { repeatable } from '../../places/content.ts';
import type { ExportContent } from '../../places/place.ts';
import { type ZitadelSide, zitadelReason } from '../expectedDifferences.ts';

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

/** What is compared, and with which ZITADEL. */
interface StateScope {
  readonly isSelected: (orgId: string) => boolean;
  readonly withKeys: boolean;
  /** The ZITADEL as the first side. */
  readonly zitadel: ZitadelSide;
}

/** What a ZITADEL has of a file's records. */
export class TargetState implements Disposable {
  private readonly comparison: Comparison;
  private readonly orgIds: ReadonlySet<string>;
  /** The numbers of records that differ only as a ZITADEL makes them differ, by section. */
  private explained: Counts = {};
  /** The organisations that the ZITADEL has with something else than the file. */
  private readonly others = new Set<string>();

  private constructor(orgIds: ReadonlySet<string>, withKeys: boolean, zitadel: ZitadelSide) {
    this.orgIds = orgIds;
    this.comparison = new Comparison({ withPasswords: false, withOtp: false, withKeys }, MAX_LISTED, {
      explain: (difference) => this.explain(difference, zitadel),
      pairs: { addPair: () => {}, reset: () => this.reset() },
    });
  }

  /**
   * Compares a file with what a ZITADEL has. Secrets are not compared: a ZITADEL never changes them, and exports without
   * them are four times as fast.
   * @param existing the export of those of the file's organisations that the ZITADEL has; undefined if it has none
   */
  static async read(
    file: ExportFileSource,
    existing: { readonly content: ExportContent; readonly orgIds: readonly string[] } | undefined,
    { isSelected, withKeys, zitadel }: StateScope,
    signal: AbortSignal,
  ): Promise<TargetState> {
    using resources = new DisposableStack();
    const state = resources.use(new TargetState(new Set(existing?.orgIds), withKeys, zitadel));
    if (existing !== undefined) {
      await using exported = await repeatable(existing.content, signal);
      await visit(exported, signal, () => true, state.comparison.first);
    }
    await visit(file, signal, isSelected, state.comparison.second);
    state.comparison.finish();
    resources.move();
    return state;
  }

  /** Whether the ZITADEL has a record. */
  has(record: OrganisationRecord): boolean {
    return this.orgIds.has(record.orgId) && this.comparison.has(record);
  }

  /**
   * The organisations that no import of this file can have created: they have records that it does not have, or has with
   * other content.
   */
  get foreignOrganisations(): readonly string[] {
    return [...this.others];
  }

  /** The numbers of records by section. Keys are counted only where they are imported. */
  get sections(): ReadonlyMap<string, SectionState> {
    return new Map(
      [...this.comparison.counts].map(([section, { equal, different, onlySecond }]) => {
        const explained = this.explained[section] ?? 0;
        return [section, { equal: equal + explained, different: different - explained, missing: onlySecond }];
      }),
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
    const { outcome, section, orgId } = difference;
    if (outcome === 'onlySecond') return 'ZITADEL does not have it';
    const reason = zitadelReason(difference, zitadel);
    if (reason === undefined) this.others.add(orgId);
    if (outcome === 'onlyFirst') return 'the file does not have it';
    if (reason !== undefined) increase(this.explained, section);
    return reason;
  }

  private reset(): void {
    this.explained = {};
    this.others.clear();
  }
}

async function visit(
  source: ExportFileSource,
  signal: AbortSignal,
  isSelected: (orgId: string) => boolean,
  visitor: RecordVisitor,
): Promise<void> {
  await inspect(source, signal, { isSelected, visitor });
}
