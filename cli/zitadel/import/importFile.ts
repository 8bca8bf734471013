import { setTimeout } from 'node:timers/promises';
import type { ImportError, ImportResponse, ImportWarning } from '../../../functions/import/contract.ts';
import { fileWarnings } from '../../../functions/import/results/report.ts';
import { selector } from '../../../functions/import/selection.ts';
import { BoundedList } from '../../../shared/collections/boundedList.ts';
import { type Counts, increase } from '../../../shared/collections/counts.ts';
import { hasCode } from '../../../shared/errors/identityError.ts';
import { placeRefused } from '../../../shared/errors/placeErrors.ts';
import type { RecordDifference } from '../../../shared/exportFile/comparison.ts';
import { type Inspection, inspect } from '../../../shared/exportFile/inspection.ts';
import { callSignal } from '../../../shared/http/deadline.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { reportedId } from '../../../shared/organisation/recordPlan.ts';
import { humanUserSection } from '../../../shared/organisation/sections/users.ts';
import { organisationSection, recordSections } from '../../../shared/organisation/sections.ts';
import { UsageError } from '../../command.ts';
import { repeatable } from '../../exports/content.ts';
import type { ExportContent, ImportMeter, ImportOptions } from '../../exports/place.ts';
import { counted } from '../../texts.ts';
import { LAG_MS } from '../expectedDifferences.ts';
import { withoutTotp } from '../instance.ts';
import { hasContext } from '../rpc.ts';
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
  // Without its context, ZITADEL would write an organisation's texts into another organisation, and existing records are unreadable.
  for (const orgId of orgIds) await hasContext(connection, orgId);
  using target = await TargetState.read(importing, orgIds, survey.losses);
  const withKeys = options.withKeys && survey.facts.content.withKeys;
  const imported = {
    ...{ ...inspection, source: file, survey, withKeys },
    exists: (record: OrganisationRecord) => target.has(record),
    importsStates: target.importsStates,
    isClosed: (record: OrganisationRecord) => target.isClosed(record),
    hasEqualPerson: (person: OrganisationRecord) => target.hasEqual(person),
    withoutTotp: (userIds: readonly string[]) => withoutTotp(connection, userIds),
  };
  const plan = await ImportPlan.read(imported, signal);
  const tally = new ImportTally(target, options);
  const total = [...survey.facts.sections.values()].reduce((sum, { records }) => sum + records, 0);
  const unchanged = tally.settled;
  meter.onStarted(() => ({ records: tally.settled, unchanged, total }));
  if (!options.dryRun) await importOrganisations(connection, plan, tally);
  if (tally.taken.length > 0) {
    // By then it shows what was written a moment ago. Nobody's factors are asked for again.
    await setTimeout(LAG_MS, undefined, { signal });
    const again = { ...importing, options: { ...options, newOrgsOnly: false } };
    using shown = await TargetState.read(again, orgIds, survey.losses);
    const isTaken = (record: OrganisationRecord) => tally.isTaken(record, shown);
    plan.leftToDo = (await ImportPlan.read({ ...imported, hasEqualPerson: () => false, isTaken }, signal)).leftToDo;
  }
  return tally.response(plan, inspection);
}

/** The number of errors that are listed, as in the responses of this service. */
const MAX_LISTED = 10_000;

const types = new Map(recordSections.map(({ name, error }) => [name, error.type]));
const namesByType = new Map([...types].map(([name, type]) => [type, name]));

const [SEED_TYPE, PERSON_TYPE] = ['human_user_otp', humanUserSection.error.type];
const personTypes = new Set([SEED_TYPE, PERSON_TYPE]);

const TAKEN = 'ZITADEL has the id in another organisation, with other content, earlier in the file, or deleted it';
type Answer = Parameters<ImportObserver['onAnswer']>[1][number];

/** The outcomes of an import into a ZITADEL, from its answers and from what it had before. */
class ImportTally implements ImportObserver {
  private readonly target: TargetState;
  private readonly options: ImportOptions;
  private readonly sent: Counts = {};
  /** What the ZITADEL says to have, and did not show. */
  readonly taken: { readonly section: string; readonly type: string; readonly id: string }[] = [];
  /** Whether it shows them later, by type and id. */
  private readonly shown = new Map<string, boolean | undefined>();
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

  onAnswer(records: readonly OutgoingRecord[], errors: readonly Answer[]): void {
    const ofSeeds = new Set(records.flatMap(({ seedOwner }) => seedOwner ?? []));
    this.settled += records.length - ofSeeds.size;
    for (const { sections: names, seedOwner } of records)
      if (seedOwner === undefined) for (const name of names) increase(this.sent, name);
    const isOfSeed = ({ id = '', type }: Answer) => ofSeeds.has(id) && personTypes.has(type);
    this.addSeeds(ofSeeds, errors.filter(isOfSeed));
    const lost = new Set(
      errors.flatMap(({ kind, type, id }) => (kind !== 'expected' && type === PERSON_TYPE ? [id] : [])),
    );
    for (const error of errors) {
      if (isOfSeed(error)) continue;
      const { kind, type, id, message } = error;
      const section = namesByType.get(type) ?? type;
      if (kind === 'existing' && type !== SEED_TYPE) {
        this.taken.push({ section, type, id: id ?? '' });
        this.shown.set(`${type} ${id ?? ''}`, undefined);
      }
      // That the person is missing is said of the person.
      if (type === SEED_TYPE && lost.has(id) && message.includes('.User.NotFound')) continue;
      if (kind === 'announced') increase(this.announced, section);
      if (kind !== 'real') continue;
      // Its person is the record.
      if (type !== SEED_TYPE) increase(this.failed, section);
      if (type === organisationSection.error.type && id !== undefined) this.refused.add(id);
      this.errors.add({ type, ...(id === undefined ? {} : { id }), message });
    }
  }

  /** Whether a record of the file is not there, because its id is taken. Call it for each record. */
  isTaken(record: OrganisationRecord, target: TargetState): boolean {
    const label = `${record.section.error.type} ${reportedId(record)}`;
    if (!this.shown.has(label)) return false;
    // A second record with the id is another one.
    this.shown.set(label, this.shown.get(label) === undefined && target.hasEqual(record));
    return !target.has(record);
  }

  /** Adds the outcomes of records that the ZITADEL says to have; returns their numbers by section. */
  private settleTaken({ unchanged, skipped, failed }: Record<'unchanged' | 'skipped' | 'failed', Counts>): Counts {
    const found: Counts = {};
    const isReported = this.options.onConflict === 'report';
    for (const { section, type, id } of this.taken) {
      const isShown = this.shown.get(`${type} ${id}`) === true;
      increase(found, section);
      increase(isShown ? unchanged : isReported ? failed : skipped, section);
      if (!isShown && isReported) this.errors.add({ type, id, message: TAKEN });
    }
    return found;
  }

  /** Adds the outcome of seeds that were sent alone. ZITADEL says of each person that it exists. */
  private addSeeds(owners: ReadonlySet<string>, errors: readonly Answer[]): void {
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
    inspection: Inspection,
  ): ImportResponse {
    const { dryRun, onConflict } = this.options;
    const { organisations, proved } = inspection;
    const before = this.target.sections;
    const failed = { ...this.failed };
    const outcomes = { created: {}, unchanged: {}, overwritten: {}, skipped: {}, failed, notCarried: {} };
    const seeds = dryRun ? { arrived: withoutSeed.size, failed: 0 } : this.seeds;
    const existing = this.settleTaken(outcomes);
    increase(outcomes.overwritten, humanUserSection.name, seeds.arrived);
    increase(outcomes.failed, humanUserSection.name, seeds.failed);
    for (const [section, { records }] of survey.facts.sections) {
      const { equal = 0, different = 0, missing = 0 } = before.get(section) ?? {};
      const taken = (this.sent[section] ?? 0) - (this.announced[section] ?? 0);
      const sent = dryRun ? missing - (withheldSections[section] ?? 0) : taken;
      const unsent = this.unsent[section] ?? 0;
      increase(outcomes.created, section, sent - (existing[section] ?? 0) - (this.failed[section] ?? 0));
      const changed = section === humanUserSection.name ? seeds.arrived + seeds.failed : 0;
      increase(outcomes.unchanged, section, equal - changed);
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
          ...fileWarnings(inspection),
          ...secretWarnings(seeds.arrived, existingWithSecrets, dryRun),
          ...leftToDo.warnings,
        ],
        proved,
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
  const sent = dryRun ? 'not there, and would be sent' : 'not there, and was sent';
  const missing = `overwritten: ${counted(seeds, 'person')} whose TOTP seed was ${sent}`;
  const others = `password hashes and TOTP seeds of ${counted(existing, 'person')} who existed are not compared (identity compare --with passwords,otp does that)`;
  return [
    ...(seeds === 0 ? [] : [{ type: 'secrets', reason: 'seeds_sent', message: missing } as const]),
    ...(existing === 0 ? [] : [{ type: 'not_compared', reason: 'secrets_not_compared', message: others } as const]),
  ];
}

function conflict({ section, id, fields = [] }: RecordDifference): ImportError {
  const paths = fields.map(({ path }) => path).join(', ');
  return { type: types.get(section) ?? section, id, message: `exists with other content, and stays so: ${paths}` };
}
