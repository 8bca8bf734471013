import { setTimeout } from 'node:timers/promises';
import { InterruptedError } from '../command.ts';
import { inspectPlace } from '../places/inspectPlace.ts';
import type { ExportOptions, Place } from '../places/place.ts';
import type { ProgressOutput } from '../progress.ts';
import { type ZitadelSide, zitadelReason } from '../zitadel/expectedDifferences.ts';
import { Comparison, type ComparisonOptions } from './comparison.ts';

/** How two places are compared. */
interface Comparing {
  readonly maxListed: number;
  readonly output: ProgressOutput;
  readonly signal: AbortSignal;
  /** Takes the records that both places have. */
  readonly pairs?: ComparisonOptions['pairs'];
}

/** A ZITADEL's exports show what was written up to 2 s before. */
const LAG_MS = 2_000;

/**
 * Reads and compares two places. Where one is a ZITADEL, it knows what that makes differ, and repeats the comparison as
 * long as that finds something else: what was written a moment ago shows late.
 * @throws IdentityError for a place that cannot be read; InterruptedError when the signal aborts
 */
export async function compareTwo(
  places: readonly [first: Place, second: Place],
  options: ExportOptions,
  comparing: Comparing,
): Promise<Comparison> {
  const { signal, pairs } = comparing;
  try {
    const zitadels = await findZitadels(places, signal);
    const explain: ComparisonOptions['explain'] = (difference) => firstReason(zitadels, difference);
    const given = { explain, ...(pairs === undefined ? {} : { pairs }) };
    // Standard input cannot be read again.
    const isRepeatable = zitadels.length > 0 && places.every(({ name }) => name !== '-');
    for (let before: string | undefined; ; await setTimeout(LAG_MS, undefined, { signal })) {
      const comparison = await compareOnce(places, options, comparing, given);
      const found = JSON.stringify([...comparison.counts]);
      if (comparison.isEqual || !isRepeatable || found === before) return comparison;
      before = found;
      comparison[Symbol.dispose]();
    }
  } catch (error) {
    throw signal.aborted ? new InterruptedError('interrupted: nothing was changed; repeat the command') : error;
  }
}

async function compareOnce(
  [first, second]: readonly [Place, Place],
  options: ExportOptions,
  { maxListed, output, signal }: Comparing,
  given: ComparisonOptions,
): Promise<Comparison> {
  const comparison = new Comparison(options, maxListed, given);
  try {
    await inspectPlace(first, options, comparison.first, output, signal);
    await inspectPlace(second, options, comparison.second, output, signal);
    comparison.finish();
    return comparison;
  } catch (error) {
    comparison[Symbol.dispose]();
    throw error;
  }
}

async function findZitadels(places: readonly [Place, Place], signal: AbortSignal): Promise<ZitadelSide[]> {
  const found: ZitadelSide[] = [];
  for (const [index, place] of places.entries()) {
    if (place.takes !== 'imports' || place.isRemote !== true) continue;
    const { service, caller, domains } = await place.facts(signal);
    const side = index === 0 ? 'first' : 'second';
    if (service === 'zitadel') found.push({ side, domains, callerId: caller?.userId });
  }
  return found;
}

function firstReason(zitadels: readonly ZitadelSide[], difference: Parameters<typeof zitadelReason>[0]) {
  for (const zitadel of zitadels) {
    const reason = zitadelReason(difference, zitadel);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
