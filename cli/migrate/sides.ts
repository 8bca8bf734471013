import { inspect } from '../../functions/import/inspect/inspection.ts';
import { IdentityError, RejectedToken } from '../../shared/errors/identityError.ts';
import { migrationTokenTooNarrow } from '../../shared/errors/migrationErrors.ts';
import { InterruptedError, type Surroundings } from '../command.ts';
import { askText, canAsk } from '../consent.ts';
import { repeatable } from '../places/content.ts';
import { openPlaces } from '../places/openPlaces.ts';
import { parsePlace } from '../places/parsePlace.ts';
import { type DatabasePlace, type Place, type PlaceFacts, TOLERATED_CLOCK_MS } from '../places/place.ts';
import { NO_ORGANISATION } from './compareSides.ts';
import type { MigrationPlan, MigrationSide } from './documents.ts';
import type { MigrationRun } from './run.ts';
import { type MigrationSettings, replaceSecretFiles, sourceOptions } from './settings.ts';

/** A place of a migration, and what it says of itself. */
export interface Side {
  readonly place: Place;
  /** What it is, such as `instance`, `zitadel`, `database`, `file` or `object`. */
  readonly kind: string;
  /** Undefined for a file or an object. */
  readonly facts: PlaceFacts | undefined;
}

/** Both sides of a migration. */
export interface Sides {
  readonly source: Side;
  readonly target: Side;
}

/** Opens both places of a migration, and asks them about themselves and their tokens. */
export async function openSides(call: Surroundings, settings: MigrationSettings): Promise<Sides> {
  const [from, to] = await openPlaces(call, settings.secretFiles, settings.from, settings.to);
  try {
    return {
      source: await examine('from', settings.from, from, call.signal),
      target: await examine('to', settings.to, to, call.signal),
    };
  } catch (error) {
    throw call.signal.aborted ? new InterruptedError('interrupted: nothing is changed; repeat the command') : error;
  }
}

/** What each side of a migration does. Both are exported at its end, to compare them. */
const operations = { from: ['export'], to: ['export', 'import'] } as const;

/**
 * Asks a place about itself and its token.
 * @throws IdentityError for a place that cannot be reached, is another service, or whose token lacks a permission
 */
async function examine(side: keyof typeof operations, text: string, place: Place, signal: AbortSignal): Promise<Side> {
  const { kind } = parsePlace(text);
  if (place.takes === 'files') return { place, kind, facts: undefined };
  const facts = await place.facts(signal);
  const missing = operations[side].find((operation) => !(operation === 'export' ? facts.mayExport : facts.mayImport));
  if (missing !== undefined) throw migrationTokenTooNarrow(place.name, missing);
  const kinds = { instance: facts.service === 'zitadel' ? 'zitadel' : kind, sqlite: 'database', firestore: 'database' };
  return { place, kind: { ...kinds, file: kind, stream: kind, object: kind }[kind], facts };
}

/** Describes a side for plan and result. */
export function describeSide({ place, kind, facts }: Side): MigrationSide {
  return {
    place: place.name,
    kind,
    ...(facts?.version === undefined ? {} : { version: facts.version }),
    ...(facts?.instance === undefined ? {} : { instance: facts.instance }),
  };
}

/** Lists what was found out about a side. */
export function listChecks({ place: { name }, facts }: Side): MigrationPlan['checks'] {
  if (facts === undefined) return [];
  const version = facts.version === undefined ? '' : `, version ${facts.version}`;
  const service = facts.service === 'zitadel' ? 'a ZITADEL instance' : 'an instance of this service';
  const found = `${name} is ${service}${version}, and permits what the migration does there`;
  return [{ status: 'ok', message: found }, ...clockChecks(name, facts), ...limitChecks(name, facts)];
}

function clockChecks(name: string, { clockAheadMs }: PlaceFacts): MigrationPlan['checks'] {
  if (clockAheadMs === undefined) return [];
  const seconds = Math.round(Math.abs(clockAheadMs) / 1000);
  if (Math.abs(clockAheadMs) <= TOLERATED_CLOCK_MS)
    return [{ status: 'ok', message: `this machine and ${name} have the same time` }];
  const direction = clockAheadMs > 0 ? 'ahead of' : 'behind';
  return [{ status: 'warning', message: `this machine is ${seconds} s ${direction} ${name}: let NTP set both clocks` }];
}

function limitChecks(name: string, { limits }: PlaceFacts): MigrationPlan['checks'] {
  return limits.map((limit) => ({ status: 'ok', message: `${name}: ${limit}` }));
}

/**
 * Finds the organisation of the source that a migration leaves out unless it is named: the default one, in which the
 * migrating service user usually is.
 * @returns undefined where organisations are named, and where the place does not tell it
 */
export async function findDefaultOrganisation(
  { place, facts }: Side,
  settings: MigrationSettings,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (place.takes === 'files' || settings.orgIds.length > 0) return undefined;
  return facts?.defaultOrgId ?? (await readManifest(place, settings, signal))?.defaultOrgId;
}

/** Reads the manifest of an export without organisations. */
async function readManifest(place: DatabasePlace, settings: MigrationSettings, signal: AbortSignal) {
  const options = { ...sourceOptions(settings), orgIds: [NO_ORGANISATION], excludedOrgIds: [] };
  await using content = await place.readExport(options, signal);
  await using file = await repeatable(content, signal);
  return (await inspect(file, signal)).manifest;
}

/**
 * Does the work of a migration, and again with another token where a place rejects one: a person at a terminal is asked for
 * its file. Each step that is done stays done.
 */
export async function withValidTokens<Result>(
  call: Surroundings,
  run: MigrationRun,
  work: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const { message, cause } = error instanceof IdentityError ? error : {};
      if (!(cause instanceof RejectedToken) || !canAsk(call)) throw error;
      const file = await askText(`${message}\nThe file of ${cause.option}:`, call);
      const given = { [cause.option.slice('--'.length)]: file };
      await run.advance('another token', { settings: replaceSecretFiles(run.state.settings, given) });
    }
  }
}
