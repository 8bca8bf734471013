// The proof of a migration, and the reasons of expected differences.

import type { ImportResponse } from '../../functions/import/contract.ts';
import { hasCode } from '../../shared/errors/identityError.ts';
import { comparedContent, type RecordContent } from '../../shared/exportFile/comparedRecord.ts';
import { Comparison, type RecordDifference } from '../../shared/exportFile/comparison.ts';
import { type FieldDifference, isOmission } from '../../shared/organisation/equality.ts';
import { humanUserSection, personCredentials } from '../../shared/organisation/sections/users.ts';
import {
  combinePairs,
  compareSides,
  explainZitadels,
  MAX_REQUESTED_ORGANISATIONS,
  onlyOrganisationsOf,
} from '../compareSides.ts';
import { valueText } from '../differenceTexts.ts';
import type { Place } from '../exports/placeInterfaces.ts';
import { counted } from '../numberTexts.ts';
import { FileLosses } from '../zitadel/fileLosses.ts';
import { Activations } from './activations.ts';
import { credentialTally } from './credentialTally.ts';
import { currentOptions } from './exportStage.ts';
import type { MigrationPlan, MigrationResult } from './migrationDocuments.ts';
import type { MigrationRun } from './migrationRun.ts';
import type { OpenSides } from './openSides.ts';
import { noCounts, OrganisationTally, recordCounts } from './organisationTally.ts';
import type { MigrationSettings } from './settings.ts';

/** The parts of a result that the proof provides. */
export interface Proved
  extends Pick<MigrationResult, 'proof' | 'credentials' | 'organisations' | 'organisationsOmitted'> {
  /** The digests of both sides' records; undefined if they include other organisations. */
  readonly sourceDigest: string;
  readonly targetDigest: string | undefined;
  /** The organisations and users that a ZITADEL has activated. */
  readonly activations: Pick<Activations, 'entries' | 'omitted'>;
  /** The user of the target's token, if known. */
  readonly targetCaller: string | undefined;
}

const MAX_LISTED_DIFFERENCES = 100;

/** Exports both sides and compares them. A target that cannot be read is verified by its checksum. */
export async function prove(run: MigrationRun, plan: MigrationPlan, sides: OpenSides): Promise<Proved> {
  return (await isReadable(run, sides.target.place)) ? proveByFields(run, plan, sides) : proveByChecksum(run, plan);
}

/** Whether a target can be read. Credentials for a bucket may only permit the creation of objects. */
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

const BOTH_COMPARED = 'both sides were exported and compared, record by record and field by field';

async function proveByFields(run: MigrationRun, plan: MigrationPlan, { source, target }: OpenSides): Promise<Proved> {
  const { settings, moved, exported } = run.state;
  const credentials = credentialTally(target);
  const activations = new Activations();
  const organisations = new OrganisationTally();
  const losses = new FileLosses(settings.refusedHashes);
  const byZitadels = explainZitadels([source.facts, target.facts], losses);
  using comparison = new Comparison(settings, MAX_LISTED_DIFFERENCES, {
    explain: (found, content) =>
      explainBesideHash(found, target.kind === 'zitadel' && hasUnchangedPeople(moved?.response), (others) =>
        byZitadels(others, content),
      ) ?? explain(found, settings, moved?.response, content),
    pairs: target.kind === 'zitadel' ? combinePairs([activations, credentials]) : credentials,
  });
  const first = { place: source.place, options: currentOptions(run), isLagging: false };
  const second = { ...onlyOrganisationsOf(target.place, first.options), isLagging: target.kind === 'zitadel' };
  const sides = { comparison, first, second, visitors: [organisations, losses] };
  const [before, after] = await run.reconnecting(() => compareSides(sides, run));
  const { differences, expected } = comparison;
  const sections = [...comparison.counts].map(
    ([name, { onlyFirst, onlySecond, ...both }]) =>
      [name, { ...both, onlySource: onlyFirst, onlyTarget: onlySecond }] as const,
  );
  const listed = organisations.listed;
  const names = new Map(listed.map(({ orgId, name }) => [orgId, name]));
  const planned = new Map(plan.organisations.map((one) => [one.orgId, one.before]));
  return {
    proof: {
      method: 'fields',
      provedAt: new Date().toISOString(),
      description: BOTH_COMPARED,
      sections: Object.fromEntries(sections),
      expected: expected.size,
      unexpected: differences.size,
      differences: [...differences.entries, ...expected.entries].map((one) =>
        describeDifference(one, names.get(one.orgId)),
      ),
      sourceUnchanged: before.tally.digest === exported?.digest,
    },
    credentials: credentials && {
      ...credentials.credentials,
      secondFactors: plan.credentials?.secondFactors ?? 'none',
    },
    organisations: listed.map(({ digest: _, ...one }) => ({
      ...one,
      before: planned.get(one.orgId) ?? { ...noCounts, absent: one.records },
      after: recordCounts(comparison.organisations.get(one.orgId)),
    })),
    organisationsOmitted: organisations.omitted,
    sourceDigest: before.tally.digest,
    activations,
    targetDigest: after.organisations.length <= MAX_REQUESTED_ORGANISATIONS ? after.tally.digest : undefined,
    targetCaller: target.facts?.caller?.userId ?? after.manifest?.exportedBy?.userId,
  };
}

const differenceOutcomes = { different: 'different', onlyFirst: 'onlySource', onlySecond: 'onlyTarget' } as const;

/** The texts for differences of secrets, whose values are never shown. */
const secretTexts = {
  different: 'differs',
  onlyFirst: 'only in the source',
  onlySecond: 'only in the target',
} as const;

function describeDifference({ outcome, fields = [], ...record }: RecordDifference, orgName: string | undefined) {
  const texts = fields.map((field) =>
    'secret' in field
      ? { path: field.path, secret: secretTexts[field.secret] }
      : { path: field.path, source: valueText(field.first), target: valueText(field.second) },
  );
  return { ...record, orgName, outcome: differenceOutcomes[outcome], fields: texts };
}

/** Returns the proof for a target that cannot be read: it has confirmed the checksum of the stored bytes. */
function proveByChecksum({ state: { moved, exported } }: MigrationRun, plan: MigrationPlan): Proved {
  const { place = '', bytes = 0, crc32c = '' } = moved?.stored ?? {};
  const digest = exported?.digest ?? '';
  return {
    proof: {
      method: 'checksum',
      provedAt: new Date().toISOString(),
      description: `the credentials do not permit to read ${place}: it has confirmed ${counted(bytes, 'byte')} with the checksum ${crc32c} (CRC32C), and its manifest has the digest ${digest}`,
      sections: {},
      expected: 0,
      unexpected: 0,
      differences: [],
    },
    credentials: undefined,
    organisations: plan.organisations.map(({ digest: _, ...one }) => ({ ...one, after: one.before })),
    organisationsOmitted: plan.organisationsOmitted,
    sourceDigest: digest,
    activations: { entries: [], omitted: 0 },
    targetDigest: undefined,
    targetCaller: undefined,
  };
}

const { password } = personCredentials;

const HASHED_ANEW =
  'the ZITADEL has another hash of the password: it hashes a password anew at a login, or the password was changed there; hashes do not show which';

/**
 * Explains a difference that may include another hash, because a ZITADEL rehashes passwords at logins.
 * @param mayBeHashedAnew whether the person may have existed in a ZITADEL before
 * @param explainOthers explains the other fields
 */
export function explainBesideHash(
  difference: RecordDifference,
  mayBeHashedAnew: boolean,
  explainOthers: (difference: RecordDifference) => string | undefined,
): string | undefined {
  const { section, fields = [] } = difference;
  const isHash = (field: FieldDifference) =>
    field.path === password.path && 'secret' in field && field.secret === 'different';
  const others = fields.filter((field) => !isHash(field));
  const isOther = !mayBeHashedAnew || section !== humanUserSection.name || others.length === fields.length;
  if (isOther) return explainOthers(difference);
  if (others.length === 0) return HASHED_ANEW;
  const reason = explainOthers({ ...difference, fields: others });
  return reason === undefined ? undefined : `${reason}; ${HASHED_ANEW}`;
}

/** Whether an import has found existing people. The hashes of created people are those of the export. */
function hasUnchangedPeople(response: ImportResponse | undefined): boolean {
  return (response?.summary.unchanged[humanUserSection.name] ?? 0) > 0;
}

/**
 * Returns the reason of an expected difference; undefined for an unexpected one.
 * @param response the import's response; undefined if the target is a file
 * @param first the record in the source, if it exists
 */
export function explain(
  { outcome, section, fields = [] }: RecordDifference,
  { onConflict }: Pick<MigrationSettings, 'onConflict'>,
  response: ImportResponse | undefined,
  first: RecordContent | undefined,
): string | undefined {
  if (outcome === 'onlySecond') return 'only the target has it: an import deletes nothing';
  if (outcome === 'onlyFirst' || first === undefined) return undefined;
  if (onConflict === 'skip' && (response?.summary.skipped?.[section] ?? 0) > 0)
    return 'it existed with other content, and --on-conflict skip keeps that';
  const isHashed = (field: FieldDifference) =>
    field.path === password.clear && 'secret' in field && field.secret === 'onlyFirst';
  const others = fields.filter((field) => !isHashed(field));
  const given = comparedContent(first);
  if (!others.every((field) => isOmission(field, given, onConflict === 'overwrite'))) return undefined;
  if (others.length === fields.length) return 'unchanged: the target has more than the export contains';
  return others.some(({ path }) => path === password.path) ? 'the target has hashed the clear password' : undefined;
}
