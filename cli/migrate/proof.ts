import type { ImportResponse } from '../../functions/import/contract.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import type { FieldDifference } from '../compare/comparedRecord.ts';
import { Comparison, type Outcome, type RecordDifference } from '../compare/comparison.ts';
import { repeatable } from '../places/content.ts';
import type { Place } from '../places/place.ts';
import { selectedKinds } from '../values.ts';
import { type ZitadelSide, zitadelReason } from '../zitadel/expectedDifferences.ts';
import { compareSides, type FirstSide, MAX_NAMED, OrganisationTally, organisationCounts } from './compareSides.ts';
import type { MigrationPlan, MigrationResult, OrganisationCounts } from './documents.ts';
import { filterExport } from './exportFilter.ts';
import { currentSelection } from './exportStage.ts';
import { PasswordProof } from './passwordProof.ts';
import type { MigrationRun } from './run.ts';
import { everything, type MigrationSettings, sourceOptions } from './settings.ts';
import type { Side } from './sides.ts';

/** What the proof adds to a result. */
export interface Proved extends Pick<MigrationResult, 'proof' | 'logins' | 'organisations' | 'organisationsOmitted'> {
  /** The digests of both sides' records, where they are those of what moved. */
  readonly sourceDigest: string;
  readonly targetDigest: string | undefined;
  /** The user of the target's token, where the target tells it. */
  readonly targetCaller: string | undefined;
}

type ListedDifference = Proved['proof']['differences'][number];

const MAX_LISTED = 100;

/** Exports both sides and compares them; a file that cannot be read is proved by its checksum. */
export async function prove(
  run: MigrationRun,
  plan: MigrationPlan,
  sides: { readonly source: Side; readonly target: Side },
): Promise<Proved> {
  if (!(await isReadable(run, sides.target.place))) return proveByChecksum(run, plan);
  const before = new Map(plan.organisations.map((one) => [one.orgId, one.before]));
  return proveByFields(run, sides, before);
}

/** Whether a target can be read. The credentials for a bucket may permit to create objects only. */
async function isReadable(run: MigrationRun, { takes, readExport }: Place): Promise<boolean> {
  if (takes === 'imports') return true;
  try {
    await using _content = await readExport(currentSelection(run).options, run.signal);
    return true;
  } catch (error) {
    if (error instanceof IdentityError && error.code === 'PERMISSION_DENIED') return false;
    throw error;
  }
}

/** The source as it is now, without what stays; standard input can be read once only, so its copy takes its place. */
function openSource(run: MigrationRun, { place, kind }: Side): FirstSide {
  const staged = { ...sourceOptions(run.state.settings), ...everything };
  if (kind === 'stream') return { place: run.export, options: staged };
  const { options, withoutUser: userId } = currentSelection(run);
  return { place: userId === undefined ? place : withoutUser(place, userId), options };
}

async function proveByFields(
  run: MigrationRun,
  { source, target }: { readonly source: Side; readonly target: Side },
  before: ReadonlyMap<string, OrganisationCounts>,
): Promise<Proved> {
  const { settings, moved, exported } = run.state;
  const passwords = new PasswordProof((format) => verifies(target, format));
  const organisations = new OrganisationTally();
  const explaining = { settings, response: moved?.response, zitadels: listZitadels(source, target) };
  const options = { explain: (one: RecordDifference) => explain(one, explaining), pairs: passwords };
  using comparison = new Comparison(settings, MAX_LISTED, options);
  const visitors = [organisations, passwords.source];
  const { first, second } = await compareSides(
    run,
    openSource(run, source),
    { place: target.place, isLagging: target.kind === 'zitadel' },
    comparison,
    visitors,
  );
  const { differences, expected } = comparison;
  const isStream = source.kind === 'stream';
  const sections = [...comparison.counts].map(([name, counts]) => [name, namedCounts(counts)] as const);
  return {
    proof: {
      method: 'fields',
      provedAt: new Date().toISOString(),
      description: isStream ? COPY_COMPARED : BOTH_COMPARED,
      secrets: [...selectedKinds(settings)],
      sections: Object.fromEntries(sections),
      expected: expected.size,
      unexpected: differences.size,
      differences: [...differences.entries, ...expected.entries].map(describeDifference),
      ...(isStream ? {} : { sourceUnchanged: first.tally.digest === exported?.digest }),
    },
    logins: passwords.logins,
    organisations: organisations.listed.map((one) => ({
      ...one,
      before: before.get(one.orgId) ?? { ...nothing, absent: one.records },
      after: organisationCounts(comparison, one.orgId),
    })),
    organisationsOmitted: organisations.omitted,
    sourceDigest: first.tally.digest,
    targetDigest: second.organisations.length <= MAX_NAMED ? second.tally.digest : undefined,
    targetCaller: target.facts?.caller?.userId ?? second.manifest?.exportedBy?.userId,
  };
}

/** Lists the sides that are a ZITADEL, which explains some differences. */
function listZitadels(source: Side, target: Side): ZitadelSide[] {
  const sides = [
    ['first', source],
    ['second', target],
  ] as const;
  return sides.flatMap(([side, { kind, facts }]) =>
    kind === 'zitadel' ? [{ side, domains: facts?.domains ?? [], callerId: facts?.caller?.userId }] : [],
  );
}

const BOTH_COMPARED = 'both sides were exported and compared, record by record and field by field';
const COPY_COMPARED =
  'the target was exported and compared with what standard input held, record by record and field by field';

const nothing: OrganisationCounts = { absent: 0, equal: 0, different: 0, onlyTarget: 0 };

/** Whether a target can verify password hashes of a known format. A ZITADEL does by default that of one only. */
function verifies({ kind }: Side, format: string): boolean {
  return kind !== 'zitadel' || format === 'bcrypt';
}

function namedCounts({ equal, different, onlyFirst, onlySecond }: Record<Outcome, number>) {
  return { equal, different, onlySource: onlyFirst, onlyTarget: onlySecond };
}

const outcomes = { different: 'different', onlyFirst: 'onlySource', onlySecond: 'onlyTarget' } as const;

function describeDifference({ outcome, fields = [], ...record }: RecordDifference): ListedDifference {
  return { ...record, outcome: outcomes[outcome], fields: fields.map(describeField) };
}

const MAX_CHARACTERS = 200;

function describeField(field: FieldDifference): ListedDifference['fields'][number] {
  if ('secret' in field) return { path: field.path, secret: field.secret };
  const { path, first, second } = field;
  return { path, source: valueText(first), target: valueText(second) };
}

function valueText(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value).slice(0, MAX_CHARACTERS);
}

/** Proves what a target has stored that cannot be read: it has confirmed the checksum of the bytes. */
function proveByChecksum({ state: { settings, moved, exported } }: MigrationRun, plan: MigrationPlan): Proved {
  const { place = '', bytes, crc32c = '' } = moved?.stored ?? {};
  const digest = exported?.digest ?? '';
  return {
    proof: {
      method: 'checksum',
      provedAt: new Date().toISOString(),
      description: `the credentials do not permit to read ${place}: it has confirmed ${bytes} bytes with the checksum ${crc32c} (CRC32C), and its manifest has the digest ${digest}`,
      secrets: [...selectedKinds(settings)],
      sections: {},
      expected: 0,
      unexpected: 0,
      differences: [],
    },
    logins: { people: plan.sections.humanUsers ?? 0, withPassword: 0, ready: 0, formats: plan.hashFormats },
    organisations: plan.organisations.map((one) => ({ ...one, after: one.before })),
    organisationsOmitted: plan.organisationsOmitted,
    sourceDigest: digest,
    targetDigest: undefined,
    targetCaller: undefined,
  };
}

const END = Buffer.from('}');

/** Returns a place whose exports lack a user and everything that refers to it. */
function withoutUser(place: Place, userId: string): Place {
  const filter = { keeps: () => true, withoutUser: userId };
  return {
    ...place,
    async readExport(options, signal) {
      await using resources = new AsyncDisposableStack();
      const content = resources.use(await place.readExport(options, signal));
      const file = resources.use(await repeatable(content, signal));
      const held = resources.move();
      return {
        isRepeatable: true,
        async *open(readSignal) {
          yield* filterExport(() => file.open(readSignal), filter);
          yield END;
        },
        [Symbol.asyncDispose]: () => held.disposeAsync(),
      };
    },
  };
}

/** What a migration did, as far as it explains differences. */
interface Explaining {
  readonly settings: Pick<MigrationSettings, 'onConflict'>;
  readonly response: ImportResponse | undefined;
  readonly zitadels: readonly ZitadelSide[];
}

/** Why a record may differ after a migration. */
interface Explanation {
  readonly reason: string;
  readonly applies: (difference: RecordDifference, migration: Explaining) => boolean;
}

/** The fields of a password: a clear one in a file becomes a hash in the target. */
const passwordFields = new Set(['user.password', 'user.hashedPassword.value']);

const explanations: readonly Explanation[] = [
  {
    reason: 'the target has it besides: an import deletes nothing',
    applies: ({ outcome }) => outcome === 'onlySecond',
  },
  {
    reason: 'it existed with other content, and --on-conflict skip keeps that',
    applies: ({ outcome, section }, { settings, response }) =>
      outcome === 'different' && settings.onConflict === 'skip' && (response?.summary.skipped?.[section] ?? 0) > 0,
  },
  {
    reason: 'the target has hashed the clear password',
    applies: ({ fields = [] }) => fields.length === 2 && fields.every(({ path }) => passwordFields.has(path)),
  },
];

/** Returns why a record may differ after a migration; undefined for a difference that should not be. */
export function explain(difference: RecordDifference, migration: Explaining): string | undefined {
  for (const side of migration.zitadels) {
    const reason = zitadelReason(difference, side);
    if (reason !== undefined) return reason;
  }
  return explanations.find(({ applies }) => applies(difference, migration))?.reason;
}
