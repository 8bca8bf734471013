import { z } from 'zod';
import type { OrganisationRange } from '../../functions/export/selection.ts';
import { partsOfAnother, partsUnavailable } from '../../shared/errors/placeErrors.ts';
import { objectExists, objectNotFound } from '../../shared/errors/storageErrors.ts';
import { objectUri } from '../../shared/objectStorage/objectName.ts';
import type { ObjectLocation, ObjectStorage, PinnedObject } from '../../shared/objectStorage/objectStorage.ts';
import type { PartSource } from '../places/place.ts';

const planSchema = z.strictObject({
  source: z.string(),
  options: z.string(),
  execution: z.string(),
  readTime: z.iso.datetime(),
  ranges: z.array(z.strictObject({ from: z.string().optional(), to: z.string().optional() })).min(1),
});

type Plan = z.infer<typeof planSchema>;

/** What an export in parts is about. Calls that differ in it are different exports. */
interface PartsRequest {
  /** How the source is named. */
  readonly source: string;
  /** The options that determine the content, as text. */
  readonly options: string;
  /** The number of parts, if there are as many organisations. */
  readonly count: number;
  /** What the tasks of one start have in common; empty for a start without tasks. */
  readonly execution: string;
}

/** One call of an export in parts: what it is about, and the objects that it shares with other calls and tasks. */
export interface PartsCall {
  readonly storage: ObjectStorage;
  readonly target: ObjectLocation;
  readonly request: PartsRequest;
  readonly signal: AbortSignal;
}

/** Opens the state of a moment, or the present one; undefined if the database does not keep it. */
type OpenSource = (readTime: Date | undefined) => Promise<PartSource | undefined>;

/** An export in parts that was begun, and the state that it exports. */
export interface BegunExport {
  readonly source: PartSource;
  readonly parts: readonly PlannedPart[];
  /** The moments of earlier exports to the same target that cannot be continued. */
  readonly abandoned: readonly string[];
}

/** A part of an export, and where it is written. */
export interface PlannedPart {
  readonly range: OrganisationRange;
  readonly location: ObjectLocation;
}

/**
 * Continues the export to a target, or begins one. Its plan is an object beside the target, so that all calls and tasks
 * agree on the moment and on the ranges. A plan whose moment the database no longer keeps is left as it is: objects are
 * never overwritten.
 */
export async function beginExport(call: PartsCall, open: OpenSource): Promise<BegunExport> {
  const abandoned: string[] = [];
  for (let run = 1; ; run++) {
    const plan = (await readPlan(call, run)) ?? (await writePlan(call, run, open));
    const source = await open(new Date(plan.readTime));
    if (source !== undefined) return { source, parts: plannedParts(call, plan.ranges, run), abandoned };
    abandoned.push(plan.readTime);
  }
}

/**
 * Finds the plan of a finished export.
 * @returns undefined if it was deleted
 * @throws IdentityError for an export of another source or with other options
 */
export async function findPlan(call: PartsCall, readTime: string): Promise<Plan | undefined> {
  for (let run = 1; ; run++) {
    const plan = await readPlan(call, run);
    if (plan === undefined || plan.readTime === readTime) return plan;
  }
}

function planLocation(call: PartsCall, run: number): ObjectLocation {
  return beside(call, `plan-${fourDigits(run)}.json`);
}

async function readPlan(call: PartsCall, run: number): Promise<Plan | undefined> {
  const location = planLocation(call, run);
  const object = await pinIfPresent(call, location);
  if (object === undefined) return undefined;
  const plan = planSchema.parse(JSON.parse((await readBytes(object, call.signal)).toString()));
  const { source, options } = call.request;
  if (plan.source !== source || plan.options !== options) throw partsOfAnother(objectUri(location));
  return plan;
}

/** Writes a plan for the present state, unless another task is faster: then returns that one's. */
async function writePlan(call: PartsCall, run: number, open: OpenSource): Promise<Plan> {
  await using state = await open(undefined);
  const { source, options, execution, count } = call.request;
  if (state === undefined) throw partsUnavailable(source);
  const ranges = [...(await state.divide(count))];
  const plan = { source, options, execution, readTime: state.readTime.toISOString(), ranges };
  if (await createJson(call, planLocation(call, run), plan)) return plan;
  return (await readPlan(call, run)) ?? plan;
}

/** The objects of the first export to a target have the shorter names. */
function plannedParts(call: PartsCall, ranges: readonly OrganisationRange[], run: number): PlannedPart[] {
  const prefix = run === 1 ? '' : `run-${fourDigits(run)}.`;
  return ranges.map((range, index) => ({
    range,
    location: beside(call, `${prefix}part-${fourDigits(index + 1)}.json`),
  }));
}

function fourDigits(number: number): string {
  return String(number).padStart(4, '0');
}

function beside({ target }: PartsCall, suffix: string): ObjectLocation {
  return { ...target, path: `${target.path}.${suffix}` };
}

/** Pins an object; undefined if there is none. */
export async function pinIfPresent(
  { storage, signal }: PartsCall,
  location: ObjectLocation,
): Promise<PinnedObject | undefined> {
  try {
    return await storage.pin(location, signal);
  } catch (error) {
    if (objectNotFound.is(error)) return undefined;
    throw error;
  }
}

/** Reads an object's bytes from `start` on. */
export async function readBytes(object: PinnedObject, signal: AbortSignal, start = 0): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(object.read(signal, start)));
}

/**
 * Writes a new object with a small document.
 * @returns whether this call created it: another one may have been faster
 */
export async function createJson(
  { storage, signal }: PartsCall,
  location: ObjectLocation,
  document: unknown,
): Promise<boolean> {
  async function* content(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${JSON.stringify(document)}\n`);
  }
  try {
    await storage.write(location, content(), signal);
    return true;
  } catch (error) {
    if (objectExists.is(error)) return false;
    throw error;
  }
}
