import type { BoundedList } from '../../shared/collections/boundedList.ts';
import { hasCode } from '../../shared/errors/identityError.ts';
import type { CountedEntry } from '../../shared/exportFile/leftToDo.ts';
import { organisationSection } from '../../shared/organisation/allSections.ts';
import { compareSides, onlyOrganisationsOf } from '../comparison/compareSides.ts';
import { fieldTexts } from '../comparison/differenceTexts.ts';
import type { Place } from '../exports/placeInterfaces.ts';
import type { RecordDifference } from '../records/runDatabase.ts';
import { counted } from '../terminal/numberTexts.ts';
import { listActivations } from './activations.ts';
import { countCredentials } from './credentialTally.ts';
import { explainDifferences } from './explanations.ts';
import { currentOptions } from './exportStage.ts';
import type { MigrationRun } from './migrationRun.ts';
import { MAX_LISTED, type MigrationPlan, type MigrationResult } from './migrationTypes.ts';
import type { OpenSides } from './openSides.ts';
import { noCounts, presentOrganisations, recordCounts } from './organisationCounts.ts';
import { findOtherOrganisations, type OtherOrganisation } from './otherOrganisations.ts';

export interface Proved extends Pick<MigrationResult, 'proof' | 'credentials' | 'organisations'> {
  readonly activations: Pick<BoundedList<CountedEntry>, 'entries' | 'omitted'>;
  readonly targetCaller: string | undefined;
  /** The ids of those organisations of the source that the target has. Empty after a proof by checksum. */
  readonly present: ReadonlySet<string>;
}

/**
 * Compares source and target after a migration. If the command cannot read the target, compares only the checksum of
 * the stored bytes.
 */
export async function prove(run: MigrationRun, plan: MigrationPlan, sides: OpenSides): Promise<Proved> {
  return (await isReadable(run, sides.target.place)) ? proveByFields(run, plan, sides) : proveByChecksum(run, plan);
}

/**
 * Whether the command may read the target. Some credentials permit only to create objects in a bucket, not to read
 * them.
 */
async function isReadable(run: MigrationRun, { takes, readExport }: Place): Promise<boolean> {
  if (takes === 'imports') return true;
  try {
    await using _content = await readExport(currentOptions(run), run.signal);
    return true;
  } catch (error) {
    if (hasCode(error, 'PERMISSION_DENIED')) return false;
    throw error;
  }
}

const NO_ACTIVATIONS = { entries: [], omitted: 0 };
const BOTH_COMPARED = 'both sides were exported and compared, record by record and field by field';

async function proveByFields(run: MigrationRun, plan: MigrationPlan, sides: OpenSides): Promise<Proved> {
  const { source, target } = sides;
  const { database, settings, response } = run;
  const explain = explainDifferences(sides, settings, database.imports, response);
  const first = { place: source.place, options: currentOptions(run), earlier: run.exported.inspection };
  const second = onlyOrganisationsOf(target.place, first.options);
  const lagging = [false, target.kind === 'zitadel'] as const;
  const isFirstZitadel = source.kind === 'zitadel';
  const comparing = { database, maxListed: MAX_LISTED, explain, first, second, isFirstZitadel, lagging };
  const { compared, read } = await run.reconnecting(() => compareSides(comparing, run));
  const [before, after] = read;
  const credentials = await countCredentials(run, target);
  const activations = target.kind === 'zitadel' ? await listActivations(database, run.signal) : NO_ACTIVATIONS;
  const otherOrganisations = await findOtherOrganisations(run, sides, before);
  const [fromSource, others] = [
    otherOrganisations.filter(isFromSource),
    otherOrganisations.filter((other) => !isFromSource(other)),
  ];
  const { differences, expected } = compared;
  const sections = [...compared.counts].map(
    ([name, { onlyFirst, onlySecond, ...inBoth }]) =>
      [name, { ...inBoth, onlySource: onlyFirst, onlyTarget: onlySecond }] as const,
  );
  const listed = database.organisations();
  const names = new Map(listed.map(({ orgId, name }) => [orgId, name]));
  const planned = new Map(plan.organisations.map((organisation) => [organisation.orgId, organisation.before]));
  return {
    proof: {
      method: 'fields',
      provedAt: new Date().toISOString(),
      description: BOTH_COMPARED,
      sections: Object.fromEntries(sections),
      expected: expected.size,
      unexpected: differences.size + fromSource.length,
      differences: [
        ...fromSource.map(describeOther),
        ...[...differences.entries, ...expected.entries].map((difference) =>
          describeDifference(difference, names.get(difference.orgId)),
        ),
      ],
      differencesOmitted: differences.omitted + expected.omitted,
      others: others.map(({ orgId, name }) => ({ orgId, name })),
      sourceUnchanged: before.tally.digest === run.exported.inspection.tally.digest,
    },
    credentials: credentials && {
      ...credentials.credentials,
      secondFactors: plan.credentials?.secondFactors ?? 'none',
    },
    organisations: listed.map((organisation) => ({
      ...organisation,
      before: planned.get(organisation.orgId) ?? { ...noCounts, absent: organisation.records },
      after: recordCounts(compared.organisations.get(organisation.orgId)),
    })),
    activations,
    targetCaller: target.facts?.caller?.userId ?? after.manifest?.exportedBy?.userId,
    present: await presentOrganisations(database, run.signal),
  };
}

function isFromSource(other: OtherOrganisation): other is OtherOrganisation & { evidence: string } {
  return other.evidence !== undefined;
}

function describeOther({ orgId, name, evidence }: OtherOrganisation & { evidence: string }) {
  const record = { section: organisationSection.name, orgId, id: orgId, name, orgName: name, fields: [] };
  return { outcome: differenceOutcomes.onlySecond, ...record, evidence };
}

const differenceOutcomes = { different: 'different', onlyFirst: 'onlySource', onlySecond: 'onlyTarget' } as const;

function describeDifference({ outcome, fields = [], ...record }: RecordDifference, orgName: string | undefined) {
  const texts = fieldTexts(fields, ['the source', 'the target']);
  const named = texts.map(({ first: source, second: target, ...field }) => ({ ...field, source, target }));
  return { ...record, orgName, outcome: differenceOutcomes[outcome], fields: named };
}

/** Cloud Storage has already confirmed the checksum of the stored bytes. */
function proveByChecksum({ stored }: MigrationRun, plan: MigrationPlan): Proved {
  const { place = '', bytes = 0, crc32c = '' } = stored ?? {};
  return {
    proof: {
      method: 'checksum',
      provedAt: new Date().toISOString(),
      description: `the credentials do not permit reading ${place}, so its records were not compared; Cloud Storage confirmed ${counted(bytes, 'byte')} with the checksum ${crc32c} (CRC32C)`,
      sections: {},
      expected: 0,
      unexpected: 0,
      differences: [],
      differencesOmitted: 0,
      others: [],
    },
    credentials: undefined,
    organisations: plan.organisations.map((organisation) => ({ ...organisation, after: organisation.before })),
    activations: NO_ACTIVATIONS,
    targetCaller: undefined,
    present: new Set(),
  };
}
