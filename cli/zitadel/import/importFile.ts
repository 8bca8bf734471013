import type { ImportError, ImportResponse, ImportWarning } from '../../../functions/import/contract.ts';
import { type Inspection, inspect } from '../../../functions/import/inspect/inspection.ts';
import { unproved } from '../../../functions/import/results/report.ts';
import { selector } from '../../../functions/import/selection.ts';
import { BoundedList } from '../../../shared/collections/boundedList.ts';
import { type Counts, increase } from '../../../shared/collections/counts.ts';
import { hasCode } from '../../../shared/errors/identityError.ts';
import { placeRefused } from '../../../shared/errors/placeErrors.ts';
import { callSignal } from '../../../shared/http/deadline.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { humanUserSection } from '../../../shared/organisation/sections/users.ts';
import { organisationSection, sections } from '../../../shared/organisation/sections.ts';
import { UsageError } from '../../command.ts';
import type { RecordDifference } from '../../compare/comparison.ts';
import { repeatable } from '../../places/content.ts';
import type { ExportContent, ImportMeter, ImportOptions } from '../../places/place.ts';
import { counted } from '../../texts.ts';
import { withoutTotp } from '../instance.ts';
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
  meter.onBegun('comparing');
  using call = callSignal(signal, options.timeoutMs);
  const connection = connect(call.signal);
  const { baseUrl } = connection;
  if (options.onConflict === 'overwrite')
    throw new UsageError('ZITADEL never overwrites records: specify --on-conflict report or skip');
  await using file = await repeatable(content, call.signal);
  try {
    return await importFile({ connect, connection, file, options, isSelected: selector(options) }, meter);
  } catch (error) {
    throw hasCode(error, 'INVALID_ARGUMENT') ? placeRefused(baseUrl, error.message, error) : error;
  }
}

async function importFile(importing: ZitadelImport, meter: ImportMeter): Promise<ImportResponse> {
  const { connection, file, options, isSelected } = importing;
  const { signal } = connection;
  const survey = new FileSurvey();
  const inspection = await inspect(file, signal, { isSelected, visitor: survey });
  const orgIds = inspection.organisations.map(({ orgId }) => orgId);
  using target = await TargetState.read(importing, orgIds, survey.losses);
  const withKeys = options.withKeys && survey.facts.content.withKeys;
  const known = {
    exists: (record: OrganisationRecord) => target.has(record),
    hasEqualPerson: (person: OrganisationRecord) => target.hasEqualPerson(person),
    withoutTotp: (userIds: readonly string[]) => withoutTotp(connection, userIds),
  };
  const plan = await ImportPlan.read({ ...inspection, source: file, survey, withKeys, ...known }, signal);
  const tally = new ImportTally(target, options);
  const total = [...survey.facts.sections.values()].reduce((sum, { records }) => sum + records, 0);
  const unchanged = tally.settled;
  meter.onStarted(() => ({ records: tally.settled, unchanged, total }));
  if (!options.dryRun) await importOrganisations(connection, plan, tally);
  return tally.response(plan, inspection);
}

/** The number of errors that are listed, as in the responses of this service. */
const MAX_LISTED = 10_000;

const types = new Map([organisationSection, ...sections].map(({ name, error }) => [name, error.type]));
const namesByType = new Map([...types].map(([name, type]) => [type, name]));

const SEED_TYPE = 'human_user_otp';
const personTypes = new Set([SEED_TYPE, humanUserSection.error.type]);

/** The outcomes of an import into a ZITADEL, from its answers and from what it had before. */
class ImportTally implements ImportObserver {
  private readonly target: TargetState;
  private readonly options: ImportOptions;
  private readonly sent: Counts = {};
  private readonly existing: Counts = {};
  /** The records that the ZITADEL refused, as what is left to do says. */
  private readonly announced: Counts = {};
  private readonly failed: Counts = {};
  /** Those of refused organisations, which are not sent. */
  private readonly unsent: Counts = {};
  private readonly refused = new Set<string>();
  private readonly errors: BoundedList<ImportError>;
  /** The numbers of people whose TOTP seed was sent alone, and is there now; and is not. */
  private readonly seeds = { arrived: 0, failed: 0 };
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
    const ofSeeds = new Set(records.flatMap(({ seedOwner }) => seedOwner ?? []));
    this.settled += records.length - ofSeeds.size;
    for (const { sections: names, seedOwner } of records)
      if (seedOwner === undefined) for (const name of names) increase(this.sent, name);
    const isOfSeed = ({ id = '', type }: { readonly id?: string | undefined; readonly type: string }) =>
      ofSeeds.has(id) && personTypes.has(type);
    this.addSeeds(ofSeeds, errors.filter(isOfSeed));
    for (const error of errors) {
      if (isOfSeed(error)) continue;
      const { kind, type, id, message } = error;
      const section = namesByType.get(type) ?? type;
      if (kind === 'existing') increase(this.existing, section);
      if (kind === 'announced') increase(this.announced, section);
      if (kind !== 'real') continue;
      // Its person is the record.
      if (type !== SEED_TYPE) increase(this.failed, section);
      if (type === organisationSection.error.type && id !== undefined) this.refused.add(id);
      this.errors.add({ type, ...(id === undefined ? {} : { id }), message });
    }
  }

  /** Adds the outcome of seeds that were sent alone. ZITADEL says of each person that it exists. */
  private addSeeds(owners: ReadonlySet<string>, errors: Parameters<ImportObserver['onAnswer']>[1]): void {
    const failed = new Set<string>();
    const present = new Set<string>();
    for (const { kind, type, id = '', message } of errors) {
      if (kind === 'real') {
        failed.add(id);
        this.errors.add({ type, id, message });
      } else if (type === SEED_TYPE) present.add(id);
    }
    this.seeds.failed += failed.size;
    this.seeds.arrived += owners.size - failed.union(present).size;
  }

  onRefused(record: OutgoingRecord): void {
    for (const name of record.sections) increase(this.unsent, name);
  }

  /** Returns the response that this service gives to such an import. */
  response(
    { survey, withheldSections, leftToDo, withoutSeed, existingWithSecrets }: ImportPlan,
    { organisations, proved }: Pick<Inspection, 'organisations' | 'proved'>,
  ): ImportResponse {
    const { dryRun, onConflict } = this.options;
    const before = this.target.sections;
    const outcomes = {
      created: {},
      unchanged: {},
      overwritten: {},
      skipped: {},
      failed: { ...this.failed },
      notCarried: {},
    };
    const seeds = dryRun ? { arrived: withoutSeed.size, failed: 0 } : this.seeds;
    let existingElsewhere = 0;
    increase(outcomes.overwritten, humanUserSection.name, seeds.arrived);
    increase(outcomes.failed, humanUserSection.name, seeds.failed);
    for (const [section, { records }] of survey.facts.sections) {
      const { equal = 0, different = 0, missing = 0 } = before.get(section) ?? {};
      const taken = (this.sent[section] ?? 0) - (this.announced[section] ?? 0);
      const sent = dryRun ? missing - (withheldSections[section] ?? 0) : taken;
      const [existing, unsent] = [this.existing[section] ?? 0, this.unsent[section] ?? 0];
      increase(outcomes.created, section, sent - existing - (this.failed[section] ?? 0));
      const changed = section === humanUserSection.name ? seeds.arrived + seeds.failed : 0;
      increase(outcomes.unchanged, section, equal - changed);
      increase(outcomes.skipped, section, existing);
      existingElsewhere += existing;
      increase(outcomes[onConflict === 'report' ? 'failed' : 'skipped'], section, different);
      increase(outcomes.failed, section, unsent);
      increase(outcomes.notCarried, section, records - equal - different - sent - unsent);
    }
    const { skipped, overwritten, ...others } = outcomes;
    const orgs = organisations.flatMap(({ orgId }) => (this.refused.has(orgId) ? [] : [{ orgId }]));
    return {
      ...(this.errors.size === 0 ? {} : { errors: this.errors.entries }),
      success: orgs.length === 0 ? {} : { orgs },
      summary: {
        ...others,
        ...(Object.keys(overwritten).length === 0 ? {} : { overwritten }),
        ...(Object.keys(skipped).length === 0 ? {} : { skipped }),
        warnings: [
          ...(proved ? [] : [unproved]),
          ...secretWarnings(seeds.arrived, existingWithSecrets, dryRun),
          ...elsewhereWarnings(existingElsewhere),
          ...leftToDo.entries,
        ],
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

/** Says what became of the secrets of the people whom the ZITADEL had. */
function secretWarnings(seeds: number, existing: number, dryRun: boolean): ImportWarning[] {
  const type = 'secrets';
  const sent = dryRun ? 'not there, and would be sent' : 'not there, and was sent';
  const missing = `overwritten: ${counted(seeds, 'person')} whose TOTP seed was ${sent}`;
  const others = `password hashes and TOTP seeds of ${counted(existing, 'person')} who existed are not compared (identity compare --with passwords,otp does that)`;
  return [...(seeds === 0 ? [] : [{ type, message: missing }]), ...(existing === 0 ? [] : [{ type, message: others }])];
}

/** Says of what was sent because the ZITADEL did not show it that it has it all the same. */
function elsewhereWarnings(records: number): ImportWarning[] {
  const message = `${counted(records, 'record')} skipped: ZITADEL has them, and did not show them in their organisation: they are in another one, or were written a moment ago`;
  return records === 0 ? [] : [{ type: 'existing', message }];
}

function conflict({ section, id, fields = [] }: RecordDifference): ImportError {
  const paths = fields.map(({ path }) => path).join(', ');
  return { type: types.get(section) ?? section, id, message: `exists with other content, and stays so: ${paths}` };
}
