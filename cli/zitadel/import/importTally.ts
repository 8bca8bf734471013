import type { ImportError, ImportResponse, ImportWarning, OnConflict } from '../../../functions/import/contract.ts';
import { organisationSection, sections } from '../../../shared/organisation/sections.ts';
import type { RecordDifference } from '../../compare/comparison.ts';
import type { ImportRequestEvent, ImportTotals } from './importOrganisations.ts';
import type { TargetState } from './targetState.ts';

type Counts = Record<string, number>;

/** The number of errors that are listed, as in the responses of this service. */
const MAX_LISTED = 10_000;

const types = new Map([organisationSection, ...sections].map(({ name, error }) => [name, error.type]));
const namesByType = new Map([...types].map(([name, type]) => [type, name]));

/** What the response says beside the outcomes. */
interface ResponseFacts {
  readonly orgIds: readonly string[];
  /** The numbers of records that a ZITADEL cannot take, by section. */
  readonly withheld: Readonly<Counts>;
  readonly warnings: readonly ImportWarning[];
  readonly warningsOmitted: number;
  readonly proved: boolean;
}

/** The outcomes of an import into a ZITADEL, from its answers and from what it had before. */
export class ImportTally {
  private readonly target: TargetState;
  private readonly onConflict: OnConflict;
  private readonly sent: Counts = {};
  private readonly existing: Counts = {};
  private readonly failed: Counts = {};
  private readonly refused = new Set<string>();
  private readonly errors: ImportError[];
  private errorsOmitted: number;
  /** The number of records whose outcome is known. */
  settled = 0;

  constructor(target: TargetState, onConflict: OnConflict) {
    this.target = target;
    this.onConflict = onConflict;
    const reported = onConflict === 'report';
    this.errors = reported ? target.differences.map(conflict) : [];
    this.errorsOmitted = reported ? target.omitted : 0;
    for (const { equal, different } of target.sections.values()) this.settled += equal + different;
  }

  /** Adds the answer to a request. */
  add({ records, sections: counts, errors }: ImportRequestEvent): void {
    this.settled += records;
    for (const [section, count] of Object.entries(counts)) increment(this.sent, section, count);
    for (const { type } of errors.existing) increment(this.existing, namesByType.get(type) ?? type);
    for (const { type, id, message } of errors.real) {
      increment(this.failed, namesByType.get(type) ?? type);
      if (type === organisationSection.error.type && id !== undefined) this.refused.add(id);
      if (this.errors.length < MAX_LISTED) this.errors.push({ type, ...(id === undefined ? {} : { id }), message });
      else this.errorsOmitted++;
    }
  }

  /**
   * Returns the response that this service gives to such an import.
   * @param given the numbers of the file's records by section
   * @param totals undefined after a dry run
   */
  response(
    given: ReadonlyMap<string, number>,
    totals: ImportTotals | undefined,
    { orgIds, withheld, warnings, warningsOmitted, proved }: ResponseFacts,
  ): ImportResponse {
    const outcomes = { created: {}, unchanged: {}, skipped: {}, failed: { ...this.failed }, notCarried: {} };
    for (const [section, count] of given) {
      const { equal = 0, different = 0, missing = 0 } = this.target.sections.get(section) ?? {};
      const sent = totals === undefined ? missing - (withheld[section] ?? 0) : (this.sent[section] ?? 0);
      const [existing, refused] = [this.existing[section] ?? 0, totals?.skippedSections[section] ?? 0];
      increment(outcomes.created, section, sent - existing - (this.failed[section] ?? 0));
      increment(outcomes.unchanged, section, equal + existing);
      increment(outcomes[this.onConflict === 'report' ? 'failed' : 'skipped'], section, different);
      increment(outcomes.failed, section, refused);
      increment(outcomes.notCarried, section, count - equal - different - sent - refused);
    }
    const { skipped, ...others } = outcomes;
    const orgs = orgIds.filter((orgId) => !this.refused.has(orgId)).map((orgId) => ({ orgId }));
    return {
      ...(this.errors.length === 0 ? {} : { errors: this.errors }),
      success: orgs.length === 0 ? {} : { orgs },
      summary: {
        ...others,
        ...(Object.keys(skipped).length === 0 ? {} : { skipped }),
        warnings: [...warnings],
        proved,
        resumed: false,
        ...(totals === undefined ? { dryRun: true } : {}),
        idsOmitted: true,
        ...(this.errorsOmitted === 0 ? {} : { errorsOmitted: this.errorsOmitted }),
        ...(warningsOmitted === 0 ? {} : { warningsOmitted }),
      },
    };
  }
}

/** Adds to a count. Those that are zero are absent. */
function increment(counts: Counts, name: string, by = 1): void {
  if (by > 0) counts[name] = (counts[name] ?? 0) + by;
}

function conflict({ section, id, fields = [] }: RecordDifference): ImportError {
  const paths = fields.map(({ path }) => path).join(', ');
  return { type: types.get(section) ?? section, id, message: `exists with other content, and stays so: ${paths}` };
}
