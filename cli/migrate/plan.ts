import { type ImportError, recordConflict } from '../../functions/import/contract.ts';
import { BoundedList } from '../../shared/collections/boundedList.ts';
import { addCounts } from '../../shared/collections/counts.ts';
import { dryRunTooLarge } from '../../shared/errors/errors.ts';
import { words } from '../../shared/errors/nouns.ts';
import { because } from '../../shared/errors/recordIssues.ts';
import { stateWarnings } from '../../shared/exportFile/fileWarnings.ts';
import { UNLIMITED } from '../../shared/limitDefinition.ts';
import { recordSection, sections } from '../../shared/organisation/allSections.ts';
import { MAX_LISTED_ISSUES } from '../../shared/organisation/recordErrors.ts';
import { refusingHashes } from '../../shared/organisation/zitadelReleases.ts';
import { onlyOrganisationsOf, recordsOf, trackComparison } from '../comparison/compareSides.ts';
import { findCertainIssues } from '../exports/certainIssues.ts';
import { makeRepeatable } from '../exports/fileContent.ts';
import type { FileSecrets } from '../exports/fileFacts.ts';
import type { ImportResponse } from '../exports/importResponse.ts';
import { inspectPlace, type PlaceInspection } from '../exports/inspectPlace.ts';
import { deletionsOf } from '../exports/mirrorDeletions.ts';
import type { ExportedRequest } from '../exports/recordCounter.ts';
import type { ComparedSides, Explain, RecordDifference } from '../records/runDatabase.ts';
import { selectedKinds } from '../records/secretSelection.ts';
import { noticeMessage } from '../terminal/notices.ts';
import { counted, numberText } from '../terminal/numberTexts.ts';
import { listConcernedPeople } from './concernedPeople.ts';
import { type CredentialTally, countCredentials } from './credentialTally.ts';
import { explainDifferences } from './explanations.ts';
import { rehearseImport } from './exportStage.ts';
import { sortNotices } from './importNotices.ts';
import type { MigrationRun } from './migrationRun.ts';
import type { MigrationPlan } from './migrationTypes.ts';
import { describeSide, listChecks, type OpenSide, type OpenSides } from './openSides.ts';
import { presentOrganisations, recordCounts } from './organisationCounts.ts';
import type { ShownState } from './planDigest.ts';
import { type MigrationSettings, shownOptions, stagedOptions } from './settings.ts';
import { listUndoneChanges } from './undoneChanges.ts';

export interface MadePlan {
  readonly plan: MigrationPlan;
  readonly shown: ShownState;
  readonly present: ReadonlySet<string>;
}

/** Makes the plan of a migration. For this, compares the export with the target, and makes a dry run of the import. */
export async function makePlan(run: MigrationRun, sides: OpenSides): Promise<MadePlan> {
  const { source, target } = sides;
  const { targetDigest, credentials, present, leftToDo, conflicts, surveyed } = await surveyExport(run, sides);
  const { leftOut, inspection } = run.exported;
  const { bytes, tally } = inspection;
  const trial = await tryImport(run, target);
  const { errors, errorsOmitted, ...notices } = sortNotices(trial, target, leftToDo);
  const [refused, refusedOmitted] =
    trial === undefined ? await findRefused(run, inspection, conflicts) : [errors, errorsOmitted];
  const people = await listConcernedPeople(run, [...refused, ...notices.leftToDo]);
  const plan: MigrationPlan = {
    source: describeSide(source),
    target: describeSide(target),
    checks: [
      ...listChecks(source),
      ...listChecks(target),
      ...exportChecks(run, source),
      ...sizeChecks(sides, bytes),
      ...trialChecks(target, trial),
      ...hashChecks(target, credentials),
    ],
    leftOut,
    ...surveyed,
    ...(run.settings.mirror === true && trial !== undefined ? deletionsOf(trial) : {}),
    options: shownOptions(run.settings),
    bytes,
    refused,
    refusedOmitted,
    ...notices,
    people,
    // The warnings of a dry run include the warnings about unknown states. So this function adds those warnings only if
    // there was no dry run.
    warnings: [...(trial === undefined ? stateWarnings(inspection) : []), ...notices.warnings],
    losses: source.facts?.exportLosses ?? [],
    changes: target.facts?.importChanges ?? [],
  };
  return { plan, shown: shownState(plan, { source: tally.digest, target: targetDigest }), present };
}

/**
 * Returns the data from which the digest of a plan is computed. Leaves out the name, the form and the size of the
 * source, so that another file with the same records has the same digest.
 */
function shownState(plan: MigrationPlan, digests: Pick<ShownState, 'source' | 'target'>): ShownState {
  const { source: _, target, checks: __, bytes: ___, options, ...decided } = plan;
  return { ...digests, options: { ...options, to: target.place }, plan: decided };
}

/**
 * Compares the export with the target. In the result, `surveyed` contains the fields of the plan that follow from this
 * comparison.
 */
async function surveyExport(run: MigrationRun, sides: OpenSides) {
  const { settings, database, signal } = run;
  const { target } = sides;
  const { inspection, facts, listed } = run.exported;
  const targetDigest = await readTarget(run, target);
  const explain = explainDifferences(sides, settings, database.imports);
  // A conflict is a record that exists on both sides with different content.
  const maxConflicts = recordConflict(settings.onConflict) === 'report' ? MAX_LISTED_ISSUES : 0;
  const explainConflict: Explain = (difference, first) =>
    difference.outcome === 'different' ? explain(difference, first) : 'no conflict';
  const comparing = { maxListed: maxConflicts, explain: explainConflict };
  const compared = await trackComparison(database, recordsOf(inspection), comparing, run);
  const credentials = await countCredentials(run, target, settings);
  const undone = overwrites(target, settings) ? await listUndoneChanges(database, signal) : undefined;
  const surveyed = {
    organisations: listed.map((organisation) => ({
      ...organisation,
      before: recordCounts(compared.organisations.get(organisation.orgId)),
    })),
    sections: Object.fromEntries([...facts.sections].map(([name, { records }]) => [name, records])),
    before: recordCounts([...compared.counts.values()].reduce(addCounts, {})),
    secrets: { selected: [...selectedKinds(settings)], found: facts.secrets.counts },
    hashFormats: facts.hashFormats,
    credentials: credentials && {
      ...credentials.credentials,
      secondFactors: secondFactors(inspection.request, facts.secrets, settings, sides.source),
    },
    undone: undone?.entries ?? [],
    undoneOmitted: undone?.omitted ?? 0,
  } satisfies Partial<MigrationPlan>;
  const leftToDo = facts.leftToDo(inspection.request, target.kind === 'zitadel', settings);
  const present = await presentOrganisations(database, signal);
  const conflicts = maxConflicts === 0 ? noDifferences : compared.differences;
  return { targetDigest, credentials, present, leftToDo, conflicts, surveyed };
}

/** Imports into ZITADEL never overwrite records. */
function overwrites({ place, kind }: OpenSide, { onConflict }: MigrationSettings): boolean {
  return onConflict === 'overwrite' && place.takes === 'imports' && kind !== 'zitadel';
}

/**
 * Returns the kinds of second factors that an export contains. If no manifest lists the export's secrets, as in an
 * export of ZITADEL, finds the kinds in the records.
 */
function secondFactors(
  { secrets: asked }: ExportedRequest,
  { counts: contained }: FileSecrets,
  { withOtp }: Pick<MigrationSettings, 'withOtp'>,
  source: Pick<OpenSide, 'kind'>,
) {
  if (asked?.otp === true) return 'all';
  if (contained.otpEmailFactors !== undefined) return source.kind === 'zitadel' ? 'otp' : 'all';
  return contained.totpSeeds !== undefined || (asked === undefined && withOtp) ? 'totp' : 'none';
}

/**
 * Loads the target's records into the run's database. If the target is a file, it is new and has no records.
 * @returns the digest of the loaded records
 */
export async function readTarget(run: MigrationRun, { place }: OpenSide): Promise<string> {
  if (place.takes === 'files') return 'a new file';
  const { database } = run;
  const only = onlyOrganisationsOf(place, stagedOptions(run.settings));
  const options = only.options(run.exported.inspection);
  const { tally } = await run.reconnecting(async () => {
    database.second.reset();
    const reading = { visitor: database.second, label: `comparing ${place.name}` };
    const read = await inspectPlace(only.place, options, run, reading);
    database.isSecondComplete = true;
    return read;
  });
  return tally.digest;
}

/**
 * Makes a dry run of the import. Returns undefined if the export is too large for a dry run. A mirroring import
 * requires a dry run, so this function throws the error instead.
 */
async function tryImport(run: MigrationRun, { place }: OpenSide) {
  if (place.takes === 'files') return undefined;
  try {
    return await rehearseImport(run, place);
  } catch (error) {
    if (dryRunTooLarge.is(error) && run.settings.mirror !== true) return undefined;
    throw error;
  }
}

type Conflicts = Pick<ComparedSides['differences'], 'entries' | 'omitted'>;

const noDifferences: Conflicts = { entries: [], omitted: 0 };

/**
 * Finds the errors of an import for which the target makes no dry run. These are the records that every import rejects,
 * and the conflicts with existing records.
 * @param conflicts records that the target has with other content, if the import will report these as errors
 */
async function findRefused(run: MigrationRun, inspection: PlaceInspection, conflicts: Conflicts) {
  await using content = await run.openExport();
  await using file = await makeRepeatable(content, run.signal);
  const options = stagedOptions(run.settings);
  const { errors, errorsOmitted } = await findCertainIssues(file, inspection, options, run);
  const listed = new BoundedList(MAX_LISTED_ISSUES, [...errors, ...conflicts.entries.map(conflictError)]);
  return [listed.entries, errorsOmitted + listed.omitted + conflicts.omitted] as const;
}

function conflictError({ section, id, fields = [] }: RecordDifference): ImportError {
  const conflict = because('record_exists', { fields: fields.map(({ path }) => path) });
  const error = { type: recordSection(section).error.type, id, ...conflict };
  return { ...error, message: noticeMessage({ ...error, message: '' }) };
}

function sizeChecks({ source, target }: OpenSides, bytes: number): MigrationPlan['checks'] {
  const { responseBytes = UNLIMITED } = source.facts?.callLimits ?? {};
  const { requestBytes = UNLIMITED } = target.facts?.callLimits ?? {};
  const exported = `${source.place.name} returns at most ${numberText(responseBytes)} bytes in a response, so the instance transfers the export through its bucket`;
  const imported = `${target.place.name} accepts at most ${numberText(requestBytes)} bytes in a request, so this command uploads the file to the bucket of the instance`;
  return [...(bytes > responseBytes ? [exported] : []), ...(bytes > requestBytes ? [imported] : [])].map((message) => ({
    status: 'ok',
    message,
  }));
}

function trialChecks({ place }: OpenSide, trial: ImportResponse | undefined): MigrationPlan['checks'] {
  if (trial !== undefined || place.takes === 'files') return [];
  const message = `${place.name} cannot simulate an import of this size. So the plan lists only records that no instance accepts, and existing records with other content. Further errors, such as names that other organisations already use, appear only in the result`;
  return [{ status: 'warning', message }];
}

function hashChecks({ place, facts }: OpenSide, tally: CredentialTally | undefined): MigrationPlan['checks'] {
  const count = tally?.refused ?? 0;
  if (count === 0) return [];
  const release = facts?.version === undefined ? 'the release and the settings are' : 'the settings are';
  const message = `${place.name} refuses the password hashes of ${counted(count, 'person')}, and therefore these people and all their records, if ZITADEL is a release of ${refusingHashes.since} or later with default settings (${release} unknown): allow the hashes in ZITADEL's SystemDefaults.PasswordHasher (Verifiers and Limits), or add --accept refused-hashes to migrate these people without the hashes`;
  return [{ status: 'warning', message }];
}

/**
 * Lists the sections in which a mirroring import deletes nothing, because the export may lack records of the source.
 */
function unmirrored({ manifest }: PlaceInspection, { withKeys }: Pick<MigrationSettings, 'withKeys'>): string[] {
  const complete = new Set(manifest?.sections);
  const others = sections.filter(({ name, keys }) => !complete.has(name) && (keys !== true || withKeys));
  const names = others.map(({ name }) => words(name)).join(', ');
  return others.length === 0
    ? []
    : [`--mirror does not delete ${names}, because the source may have such records that its export lacks`];
}

function exportChecks({ exported, settings }: MigrationRun, { place }: OpenSide): MigrationPlan['checks'] {
  const { notices, defaultOrgId, movedExporterId, inspection } = exported;
  const withDefault = `${place.name} contains ${defaultOrgId}, the default organisation of its source: to exclude this organisation, export again with --exclude-org ${defaultOrgId}`;
  const withExporter = `the export contains the user ${movedExporterId}, who exported the source: if you created this user only for the export, delete the user in the target after the migration`;
  const messages = [
    ...notices.map(({ message }) => message),
    ...(settings.mirror === true ? unmirrored(inspection, settings) : []),
    ...(defaultOrgId === undefined ? [] : [withDefault]),
    ...(movedExporterId === undefined ? [] : [withExporter]),
  ];
  return messages.map((message) => ({ status: 'warning', message }));
}
