import type { ImportError, ImportResponse, ImportWarning } from '../../../functions/import/contract.ts';
import { type Inspection, inspect } from '../../../functions/import/inspect/inspection.ts';
import { unproved } from '../../../functions/import/results/report.ts';
import { selector } from '../../../functions/import/selection.ts';
import { BoundedList } from '../../../shared/collections/boundedList.ts';
import { type Counts, increase } from '../../../shared/collections/counts.ts';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import { placeRefused } from '../../../shared/errors/placeErrors.ts';
import { callSignal } from '../../../shared/http/deadline.ts';
import type { LeftToDoEntry } from '../../../shared/organisation/leftToDo.ts';
import { organisationSection, sections } from '../../../shared/organisation/sections.ts';
import type { RecordDifference } from '../../compare/comparison.ts';
import { repeatable } from '../../places/content.ts';
import type { ExportContent, ImportMeter, ImportOptions } from '../../places/place.ts';
import { type ImportObserver, importOrganisations } from './importOrganisations.ts';
import { FileSurvey, ImportPlan } from './importPlan.ts';
import type { OutgoingRecord } from './outgoingRecords.ts';
import { TargetState, type ZitadelImport } from './targetState.ts';

/**
 * Imports into a ZITADEL what it does not have. A dry run compares only. An import that was interrupted is repeated
 * without harm: what it has written is found, and not sent again.
 */
export async function importIntoZitadel(
  connect: ZitadelImport['connect'],
  content: ExportContent,
  options: ImportOptions,
  meter: ImportMeter,
  signal: AbortSignal,
): Promise<ImportResponse> {
  using call = callSignal(signal, options.timeoutMs);
  const connection = connect(call.signal);
  const { baseUrl } = connection;
  if (options.onConflict === 'overwrite')
    throw placeRefused(baseUrl, 'ZITADEL never overwrites records: specify --on-conflict report or skip');
  await using file = await repeatable(content, call.signal);
  try {
    return await importFile({ connect, connection, file, options, isSelected: selector(options) }, meter);
  } catch (error) {
    const isInvalid = error instanceof IdentityError && error.code === 'INVALID_ARGUMENT';
    throw isInvalid ? placeRefused(baseUrl, error.message, error) : error;
  }
}

async function importFile(importing: ZitadelImport, meter: ImportMeter): Promise<ImportResponse> {
  const { connection, file, options, isSelected } = importing;
  const { signal } = connection;
  const survey = new FileSurvey();
  const inspection = await inspect(file, signal, { isSelected, visitor: survey });
  const orgIds = inspection.organisations.map(({ orgId }) => orgId);
  using target = await TargetState.read(importing, orgIds);
  const withKeys = options.withKeys && survey.facts.content.withKeys;
  const exists: ImportPlan['exists'] = (record) => target.has(record);
  const plan = await ImportPlan.read({ ...inspection, source: file, survey, withKeys, exists }, signal);
  const tally = new ImportTally(target, options);
  meter.onStarted(() => tally.settled);
  if (!options.dryRun) await importOrganisations(connection, plan, tally);
  return tally.response(plan, inspection);
}

function leftToDoWarning({ id, ...entry }: LeftToDoEntry): ImportWarning {
  return { ...entry, ...(id === undefined ? {} : { id }) };
}

/** The number of errors that are listed, as in the responses of this service. */
const MAX_LISTED = 10_000;

const types = new Map([organisationSection, ...sections].map(({ name, error }) => [name, error.type]));
const namesByType = new Map([...types].map(([name, type]) => [type, name]));

/** The outcomes of an import into a ZITADEL, from its answers and from what it had before. */
class ImportTally implements ImportObserver {
  private readonly target: TargetState;
  private readonly options: ImportOptions;
  private readonly sent: Counts = {};
  private readonly existing: Counts = {};
  private readonly failed: Counts = {};
  /** Those of refused organisations, which are not sent. */
  private readonly unsent: Counts = {};
  private readonly refused = new Set<string>();
  private readonly errors: BoundedList<ImportError>;
  /** The number of records whose outcome is known. */
  settled = 0;

  constructor(target: TargetState, options: ImportOptions) {
    this.target = target;
    this.options = options;
    const { entries, omitted } = target.differences;
    const isReported = options.onConflict === 'report';
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
    { survey, withheldSections, leftToDo }: ImportPlan,
    { organisations, proved }: Pick<Inspection, 'organisations' | 'proved'>,
  ): ImportResponse {
    const { dryRun, onConflict } = this.options;
    const before = this.target.sections;
    const outcomes = { created: {}, unchanged: {}, skipped: {}, failed: { ...this.failed }, notCarried: {} };
    for (const [section, { records }] of survey.facts.sections) {
      const { equal = 0, different = 0, missing = 0 } = before.get(section) ?? {};
      const sent = dryRun ? missing - (withheldSections[section] ?? 0) : (this.sent[section] ?? 0);
      const [existing, unsent] = [this.existing[section] ?? 0, this.unsent[section] ?? 0];
      increase(outcomes.created, section, sent - existing - (this.failed[section] ?? 0));
      increase(outcomes.unchanged, section, equal + existing);
      increase(outcomes[onConflict === 'report' ? 'failed' : 'skipped'], section, different);
      increase(outcomes.failed, section, unsent);
      increase(outcomes.notCarried, section, records - equal - different - sent - unsent);
    }
    const { skipped, ...others } = outcomes;
    const orgs = organisations.flatMap(({ orgId }) => (this.refused.has(orgId) ? [] : [{ orgId }]));
    return {
      ...(this.errors.size === 0 ? {} : { errors: this.errors.entries }),
      success: orgs.length === 0 ? {} : { orgs },
      summary: {
        ...others,
        ...(Object.keys(skipped).length === 0 ? {} : { skipped }),
        warnings: [...(proved ? [] : [unproved]), ...leftToDo.entries.map(leftToDoWarning)],
        proved,
        resumed: false,
        ...(dryRun ? { dryRun } : {}),
        idsOmitted: true,
        ...(this.errors.omitted === 0 ? {} : { errorsOmitted: this.errors.omitted }),
        ...(leftToDo.omitted === 0 ? {} : { warningsOmitted: leftToDo.omitted }),
      },
    };
  }
}

function conflict({ section, id, fields = [] }: RecordDifference): ImportError {
  const paths = fields.map(({ path }) => path).join(', ');
  return { type: types.get(section) ?? section, id, message: `exists with other content, and stays so: ${paths}` };
}
