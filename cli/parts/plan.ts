import { z } from 'zod';
import type { OrganisationRange } from '../../functions/export/selection.ts';
import { partsOfAnother, partsUnavailable } from '../../shared/errors/placeErrors.ts';
import type { ObjectLocation, ObjectStorage } from '../../shared/objectStorage/objectStorage.ts';
import type { PartSource } from '../places/place.ts';
import { beside, createJson, objectUri, pinIfPresent, readBytes } from './storedJson.ts';

const planSchema = z.strictObject({
  source: z.string(),
  options: z.string(),
  execution: z.string(),
  readTime: z.iso.datetime(),
  ranges: z.array(z.strictObject({ from: z.string().optional(), to: z.string().optional() })).min(1),
});

/** What an export in parts is about. Calls that differ in it are different exports. */
export interface PartsRequest {
  /** How the source is named. */
  readonly source: string;
  /** The options that determine the content, as text. */
  readonly options: string;
  /** The number of parts, if there are as many organisations. */
  readonly count: number;
  /** What the tasks of one start have in common; empty for a start without tasks. */
  readonly execution: string;
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
export async function beginExport(
  storage: ObjectStorage,
  target: ObjectLocation,
  request: PartsRequest,
  open: OpenSource,
  signal: AbortSignal,
): Promise<BegunExport> {
  const abandoned: string[] = [];
  for (let run = 1; ; run++) {
    const location = planLocation(target, run);
    const plan =
      (await readPlan(storage, location, request, signal)) ??
      (await writePlan(storage, location, request, open, signal));
    const source = await open(new Date(plan.readTime));
    if (source !== undefined) return { source, parts: plannedParts(target, plan.ranges, run), abandoned };
    abandoned.push(plan.readTime);
  }
}

/**
 * Finds the plan of a finished export.
 * @returns undefined if it was deleted
 * @throws IdentityError for an export of another source or with other options
 */
export async function findPlan(
  storage: ObjectStorage,
  target: ObjectLocation,
  request: PartsRequest,
  readTime: string,
  signal: AbortSignal,
): Promise<Plan | undefined> {
  for (let run = 1; ; run++) {
    const plan = await readPlan(storage, planLocation(target, run), request, signal);
    if (plan === undefined || plan.readTime === readTime) return plan;
  }
}

type Plan = z.infer<typeof planSchema>;

function planLocation(target: ObjectLocation, run: number): ObjectLocation {
  return beside(target, `plan-${fourDigits(run)}.json`);
}

async function readPlan(
  storage: ObjectStorage,
  location: ObjectLocation,
  { source, options }: PartsRequest,
  signal: AbortSignal,
): Promise<Plan | undefined> {
  const object = await pinIfPresent(storage, location, signal);
  if (object === undefined) return undefined;
  const plan = planSchema.parse(JSON.parse((await readBytes(object, signal)).toString()));
  if (plan.source !== source || plan.options !== options) throw partsOfAnother(objectUri(location));
  return plan;
}

/** Writes a plan for the present state, unless another task is faster: then returns that one's. */
async function writePlan(
  storage: ObjectStorage,
  location: ObjectLocation,
  request: PartsRequest,
  open: OpenSource,
  signal: AbortSignal,
): Promise<Plan> {
  await using source = await open(undefined);
  const { source: name, options, execution, count } = request;
  if (source === undefined) throw partsUnavailable(name);
  const ranges = [...(await source.divide(count))];
  const plan = { source: name, options, execution, readTime: source.readTime.toISOString(), ranges };
  if (await createJson(storage, location, plan, signal)) return plan;
  return (await readPlan(storage, location, request, signal)) ?? plan;
}

/** The objects of the first export to a target have the shorter names. */
function plannedParts(target: ObjectLocation, ranges: readonly OrganisationRange[], run: number): PlannedPart[] {
  const prefix = run === 1 ? '' : `run-${fourDigits(run)}.`;
  return ranges.map((range, index) => ({
    range,
    location: beside(target, `${prefix}part-${fourDigits(index + 1)}.json`),
  }));
}

function fourDigits(number: number): string {
  return String(number).padStart(4, '0');
}
