import type { ImportError, ImportResponse, ImportWarning, OnConflict } from '../../../functions/import/contract.ts';
import { BoundedList } from '../../../shared/collections/boundedList.ts';
import { type Counts, increase } from '../../../shared/collections/counts.ts';
import { organisationSection, sections } from '../../../shared/organisation/sections.ts';
import type { RecordDifference } from '../../compare/comparison.ts';
import type { ImportObserver } from './importOrganisations.ts';
import type { ImportPlan } from './importPlan.ts';
import type { OutgoingRecord } from './outgoingRecords.ts';
import type { TargetState } from './targetState.ts';

/** The number of errors that are listed, as in the responses of this service. */
const MAX_LISTED = 10_000;

const types = new Map([organisationSection, ...sections].map(({ name, error }) => [name, error.type]));
const namesByType = new Map([...types].map(([name, type]) => [type, name]));

/** What the response says beside the outcomes. */
interface ResponseFacts {
  readonly dryRun: boolean;
  readonly orgIds: readonly string[];
  readonly warnings: readonly ImportWarning[];
  readonly warningsOmitted: number;
  readonly proved: boolean;
}

/** The outcomes of an import into a ZITADEL, from its answers and from what it had before. */
export class ImportTally implements ImportObserver {
  private readonly target: TargetState;
  private readonly onConflict: OnConflict;
  private readonly sent: Counts = {};
  private readonly existing: Counts = {};
  private readonly failed: Counts = {};
  /** Those of refused organisations, which are not sent. */
  private readonly unsent: Counts = {};
  private readonly refused = new Set<string>();
  private readonly errors: BoundedList<ImportError>;
  /** The number of records whose outcome is known. */
  settled = 0;

  constructor(target: TargetState, onConflict: OnConflict) {
    this.target = target;
    this.onConflict = onConflict;
    const { entries, omitted } = target.differences;
    const isReported = onConflict === 'report';
    this.errors = new BoundedList(MAX_LISTED, isReported ? entries.map(conflict) : []);
    if (isReported) this.errors.omitted = omitted;
    for (const { equal, different } of target.sections.values()) this.settled += equal + different;
  }

  onAnswer(records: readonly OutgoingRecord[], errors: Parameters<ImportObserver['onAnswer']>[1]): void {
    this.settled += records.length;
    for (const { sections: names } of records) for (const name of names) increase(this.sent, name);
    for (const { kind, type, id, message } of errors) {
      const section = namesByType.get(type) ?? type;
      if (kind === 'existing') increase(this.existing, section);
      if (kind !== 'real') continue;
      increase(this.failed, section);
      if (type === organisationSection.error.type && id !== undefined) this.refused.add(id);
      this.errors.add({ type, ...(id === undefined ? {} : { id }), message });
    }
  }

  onRefused(record: OutgoingRecord): void {
    for (const name of record.sections) increase(this.unsent, name);
  }

  /** Returns the response that this service gives to such an import. */
  response(
    { survey, withheldSections }: Pick<ImportPlan, 'survey' | 'withheldSections'>,
    { dryRun, orgIds, warnings, warningsOmitted, proved }: ResponseFacts,
  ): ImportResponse {
    const outcomes = { created: {}, unchanged: {}, skipped: {}, failed: { ...this.failed }, notCarried: {} };
    for (const [section, { records }] of survey.facts.sections) {
      const { equal = 0, different = 0, missing = 0 } = this.target.sections.get(section) ?? {};
      const sent = dryRun ? missing - (withheldSections[section] ?? 0) : (this.sent[section] ?? 0);
      const [existing, unsent] = [this.existing[section] ?? 0, this.unsent[section] ?? 0];
      increase(outcomes.created, section, sent - existing - (this.failed[section] ?? 0));
      increase(outcomes.unchanged, section, equal + existing);
      increase(outcomes[this.onConflict === 'report' ? 'failed' : 'skipped'], section, different);
      increase(outcomes.failed, section, unsent);
      increase(outcomes.notCarried, section, records - equal - different - sent - unsent);
    }
    const { skipped, ...others } = outcomes;
    const orgs = orgIds.filter((orgId) => !this.refused.has(orgId)).map((orgId) => ({ orgId }));
    return {
      ...(this.errors.size === 0 ? {} : { errors: this.errors.entries }),
      success: orgs.length === 0 ? {} : { orgs },
      summary: {
        ...others,
        ...(Object.keys(skipped).length === 0 ? {} : { skipped }),
        warnings: [...warnings],
        proved,
        resumed: false,
        ...(dryRun ? { dryRun } : {}),
        idsOmitted: true,
        ...(this.errors.omitted === 0 ? {} : { errorsOmitted: this.errors.omitted }),
        ...(warningsOmitted === 0 ? {} : { warningsOmitted }),
      },
    };
  }
}

function conflict({ section, id, fields = [] }: RecordDifference): ImportError {
  const paths = fields.map(({ path }) => path).join(', ');
  return { type: types.get(section) ?? section, id, message: `exists with other content, and stays so: ${paths}` };
}
