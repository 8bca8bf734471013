import { defined } from '../../shared/defined.ts';
import { migrationTokenTooNarrow } from '../../shared/errors/placeErrors.ts';
import { type DescribedPlace, type Place, requireOtherInstance } from '../exports/placeInterfaces.ts';
import { openPlaces } from '../open/openPlaces.ts';
import { requireEffects } from '../open/optionEffects.ts';
import { parsePlace } from '../places/parsePlace.ts';
import { interruptible, NOTHING_CHANGED, type Surroundings } from '../terminal/command.ts';
import type { MigrationCall } from './migrationOptions.ts';
import type { MigrationPlan, MigrationSide } from './migrationTypes.ts';
import type { MigrationSettings } from './settings.ts';

export interface OpenSide extends DescribedPlace {
  readonly kind: string;
}

export interface OpenSides {
  readonly source: OpenSide;
  readonly target: OpenSide;
}

/**
 * Opens both sides of a migration, reads facts about them, and requires that their tokens permit the migration.
 * @throws IdentityError USAGE_INVALID if both sides are the same instance, or if an option has no effect on either side
 */
export async function openSides(call: MigrationCall, settings: MigrationSettings): Promise<OpenSides> {
  const [from, to] = await openPlaces(call, settings.secretFiles, settings.from, settings.to);
  return interruptible(call.signal, NOTHING_CHANGED, async () => {
    const source = await examine('from', settings.from, from, call);
    const target = await examine('to', settings.to, to, call);
    requireOtherInstance(source, target);
    // If a side is an object in a bucket, `--timeout` limits the retries after a lost connection. So the option has an
    // effect for such a side.
    const isLimited = source.kind === 'object' || target.kind === 'object';
    const { timeout, ...others } = call.options;
    await requireEffects(isLimited ? others : { timeout, ...others }, call.signal, source, target);
    return { source, target };
  });
}

/** The time after which the command prints that it is waiting for a place. */
const SILENT_MS = 5_000;

/** The proof exports both sides, so both tokens must permit exports. */
const requiredOperations = { from: ['export'], to: ['export', 'import'] } as const;

/**
 * Reads the facts about a place, and requires that its token permits the migration.
 * @throws IdentityError if the place is unreachable or not a known service, or if a permission is missing
 */
async function examine(
  side: keyof typeof requiredOperations,
  text: string,
  place: Place,
  { signal, stderr }: Surroundings,
): Promise<OpenSide> {
  const { kind } = parsePlace(text);
  if (place.takes === 'files') return { place, kind, facts: undefined };
  const notice = setTimeout(() => stderr.write(`waiting for ${place.name} to respond\n`), SILENT_MS);
  const facts = await place.facts(requiredOperations[side], signal).finally(() => clearTimeout(notice));
  const [missing] = facts.denied;
  // A token of this service can be restricted to some operations. A token of ZITADEL cannot.
  const range = facts.service === 'zitadel' ? undefined : 'is not restricted to other operations';
  if (missing !== undefined) throw migrationTokenTooNarrow({ place: place.name, operation: missing, range });
  return { place, kind: facts.service === 'zitadel' ? 'zitadel' : kind, facts };
}

export function describeSide({ place, kind, facts }: OpenSide): MigrationSide {
  const { version, instance, caller } = facts ?? {};
  return { place: place.name, kind, ...defined({ version, instance, roles: caller?.roles }) };
}

export function listChecks({ place: { name }, kind, facts }: OpenSide): MigrationPlan['checks'] {
  if (facts === undefined) return [];
  const version = facts.version === undefined ? '' : `, version ${facts.version}`;
  const service = facts.service === 'zitadel' ? 'a ZITADEL instance' : 'an instance of this service';
  const permission = kind === 'database' ? '' : '; the token permits the migration';
  const message = `${name} is ${service}${version}${permission}`;
  return [
    { status: 'ok', message },
    ...(facts.assumption === undefined
      ? []
      : [{ status: 'warning' as const, message: `${name}: ${facts.assumption}` }]),
    ...(facts.limits ?? []).map((limit) => ({ status: 'ok' as const, message: `${name}: ${limit}` })),
  ];
}
