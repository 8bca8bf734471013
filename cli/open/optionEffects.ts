import { type AcceptableLoss, type DescribedPlace, describePlace } from '../exports/placeInterfaces.ts';
import { interruptible, NOTHING_CHANGED, usageError } from '../terminal/command.ts';

interface DependentOptions {
  readonly timeout?: unknown;
  readonly 'on-conflict'?: unknown;
  readonly mirror?: boolean;
  readonly accept?: readonly AcceptableLoss[] | undefined;
}

/** A place of a call, and facts about this place if the caller has already read them. */
type CalledPlace = Pick<DescribedPlace, 'place'> & Partial<DescribedPlace>;

export function noEffect(option: string, reason: string): Error {
  return usageError(`${option} has no effect here: ${reason}`);
}

/** For each service as the target, the values of `--on-conflict` that `--mirror` requires. */
const MIRRORING = {
  identity: { handlings: ['overwrite'], problem: '--mirror needs --on-conflict overwrite' },
  zitadel: {
    handlings: ['report', 'skip'],
    problem: '--mirror into ZITADEL needs --on-conflict report or skip, because ZITADEL never overwrites records',
  },
} as const;

/**
 * Requires that each option of a call has an effect on at least one of the call's places.
 * @throws IdentityError USAGE_INVALID for an option without effect
 */
export async function requireEffects(
  { timeout, accept = [], 'on-conflict': onConflict, mirror = false }: DependentOptions,
  signal: AbortSignal,
  source: CalledPlace,
  target?: CalledPlace,
): Promise<void> {
  const isFile = ({ place }: CalledPlace) => place.takes === 'files';
  if (timeout !== undefined && isFile(source) && (target === undefined || isFile(target)))
    throw noEffect('--timeout', 'the option limits calls of instances, databases and ZITADEL, not of files');
  if (mirror && target !== undefined && isFile(target)) throw noEffect('--mirror', 'the target is a new file');
  if (onConflict !== undefined && target !== undefined && isFile(target))
    throw noEffect('--on-conflict', 'the target is a new file, in which no records exist');
  if (accept.length === 0 && !mirror) return;
  const isZitadel = ({ place, facts }: CalledPlace) =>
    interruptible(signal, NOTHING_CHANGED, async () => {
      const placeFacts = facts ?? (await describePlace(place, signal)).facts;
      return placeFacts?.service === 'zitadel';
    });
  const isInto = target !== undefined && (await isZitadel(target));
  if (mirror) requireMirroring(onConflict, isInto);
  if (accept.includes('refused-hashes') && !isInto)
    throw noEffect('--accept refused-hashes', 'the option is for imports into ZITADEL');
  if (accept.includes('unknown-states') && !isInto && !(await isZitadel(source)))
    throw noEffect('--accept unknown-states', 'the option is for exports of ZITADEL');
}

/** @param isInto true if the target is ZITADEL; false if it is an instance of this service */
function requireMirroring(onConflict: unknown, isInto: boolean): void {
  const { handlings, problem } = MIRRORING[isInto ? 'zitadel' : 'identity'];
  if (!handlings.some((handling) => handling === (onConflict ?? 'report'))) throw usageError(problem);
}
