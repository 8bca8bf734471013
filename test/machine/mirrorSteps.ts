import fc from 'fast-check';
import { expect } from 'vitest';
import { total } from '../../shared/collections/counts.ts';
import { comparable } from '../support/fixtures/comparable.ts';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { importReport, testInstance } from '../support/instances/testInstance.ts';
import { readDatabase } from '../support/stores/database.ts';
import { withTemporaryStore } from '../support/stores/stores.ts';
import { modelOf } from './contents.ts';
import { anyFile } from './file.ts';
import { anyEnd, checkReport } from './importSteps.ts';
import { anyChange, type Change, withChange } from './mirrorChanges.ts';
import type { Model } from './model.ts';
import { isContradictory } from './modelFile.ts';
import type { Options } from './modelImport.ts';
import { type Mirrored, mirrorFile } from './modelMirror.ts';
import { hasOpenOutcome } from './openOutcomes.ts';
import { brief, type State, type Step, step } from './step.ts';
import type { System } from './system.ts';

const stated = { withPasswords: true, withOtp: true };

/**
 * A mirroring import of what another instance has: a part of the instance's own records, and those of further files.
 */
interface Sent {
  /** Whether the other instance has each of the instance's own records. Repeats from its start after its end. */
  readonly own: readonly boolean[];
  /** How the instance's own records have changed in the other one. */
  readonly changes: readonly Change[];
  readonly files: readonly (readonly Organisation[])[];
  readonly withKeys: boolean;
  readonly dryRun: boolean;
  /** Whether the request permits one deletion less than there are. */
  readonly isTooMany: boolean;
  readonly until: { readonly end: Parameters<System['importUntil']>[1]; readonly commit: number } | undefined;
}

const anySent: fc.Arbitrary<Sent> = fc.record({
  files: fc.array(
    anyFile.filter((orgs) => !isContradictory(orgs)),
    { maxLength: 1 },
  ),
  own: fc.array(fc.constantFrom(true, true, true, false), { minLength: 1, maxLength: 7 }),
  changes: fc.array(anyChange, { maxLength: 3 }),
  withKeys: fc.boolean(),
  dryRun: fc.constantFrom(false, false, false, true),
  isTooMany: fc.constantFrom(false, false, false, false, true),
  until: fc.option(
    anyEnd.chain(({ end }) => fc.record({ end: fc.constant(end), commit: fc.integer({ min: 1, max: 20 }) })),
    { freq: 2, nil: undefined },
  ),
});

/** Imports that mirror other instances. */
export const mirrorSteps: readonly fc.Arbitrary<Step>[] = [anySent.map(mirrorStep), anySent.map(mirrorStep)];

function mirrorStep(sent: Sent): Step {
  const { files, ...how } = sent;
  return step(`mirror ${brief(how)} of ${files.map(brief).join(' and ')}`, (state, system) =>
    mirror(state, system, sent),
  );
}

/** A request that mirrors all records that the instance has itself. */
const ofOwn: Sent = {
  own: [true],
  changes: [],
  files: [],
  withKeys: true,
  dryRun: false,
  isTooMany: false,
  until: undefined,
};

/** Mirrors the instance's own records, removes some, and sends the mirror again, which must not restore them. */
export function mirrorAgainAfter(removals: fc.Arbitrary<Step>): fc.Arbitrary<Step> {
  return removals.map((removal) =>
    step(`a mirror again after ${removal.toString()}`, async (state, system) => {
      const request = await mirror(state, system, ofOwn);
      if (request === undefined || !(await removal.check(state))) return;
      await removal.run(state, system);
      await checkOutdated(state.model, system, request);
    }),
  );
}

/** The export of another instance. */
async function exportOf({ own, changes, files, withKeys }: Sent, system: System) {
  const { orgs } = await system.instance.export();
  let position = 0;
  const isKept = () => own[position++ % own.length] ?? true;
  const kept = orgs.filter(isKept).map((org) => withoutSome(org, isKept));
  const part = changes.reduce(withChange, kept);
  return withTemporaryStore(async (store) => {
    const source = await testInstance(store, 'source');
    for (const given of [part, ...files])
      await source.attempt('import', { data_orgs: { orgs: given }, with_keys: true, on_conflict: 'overwrite' });
    return await source.export({ with_keys: withKeys });
  });
}

/** An organisation without some of its records. */
function withoutSome(given: Organisation, isKept: () => boolean): Organisation {
  const { orgId, org, orgState, ...records } = given;
  const kept = Object.entries(records).flatMap(([section, value]) => {
    if (Array.isArray(value)) return [[section, value.filter(isKept)] as const];
    return isKept() ? [[section, value] as const] : [];
  });
  return { orgId, org, orgState, ...Object.fromEntries(kept) };
}

interface MirrorRequest {
  /** All organisations of the file. */
  readonly replace_changed: readonly string[];
}

/** @returns the request, unless its outcome is open */
async function mirror(state: State, system: System, sent: Sent): Promise<MirrorRequest | undefined> {
  const { withKeys, dryRun, isTooMany, until } = sent;
  const { orgs, bytes } = await exportOf(sent, system);
  const options: Options = { onConflict: 'overwrite', withKeys };
  if (hasOpenOutcome(state.model, orgs, options)) return undefined;
  const expected = mirrorFile(state.model, orgs, options, stated);
  const deletions = expected === 'fails' ? 1_000 : total(expected.deleted);
  const request = {
    data_orgs: bytes,
    on_conflict: 'overwrite',
    mirror: true,
    with_keys: withKeys,
    dry_run: dryRun,
    max_deleted: Math.max(0, deletions - (isTooMany ? 1 : 0)),
    replace_changed: orgs.map(({ orgId }) => orgId),
  };
  await checkOutdated(state.model, system, request);
  if (isTooMany && !dryRun && expected !== 'fails' && deletions > 0) {
    const { status, text } = await system.instance.attempt('import', request);
    expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining('MIRROR_DELETES_TOO_MUCH') });
    return request;
  }
  const interrupted = until === undefined ? undefined : await system.importUntil(request, until.end, until.commit);
  const isWhole = interrupted === undefined || interrupted.status === 200;
  const { status, text } = interrupted?.status === 200 ? interrupted : await system.instance.attempt('import', request);
  expect(status, text).toBe(200);
  if (expected === 'fails') await adoptFailed(state.model, system, text);
  else await checkMirrored(state, system, { orgs, options, dryRun, isWhole, text, request }, expected);
  if (!dryRun) for (const { orgId } of orgs) state.model.outdated.delete(orgId);
  return request;
}

/** Expects that a mirror is refused for each organisation that has lost records if it names only the others. */
async function checkOutdated(model: Model, system: System, request: MirrorRequest): Promise<void> {
  const trial = { ...request, dry_run: true, max_deleted: undefined };
  for (const orgId of request.replace_changed.filter((id) => model.outdated.has(id))) {
    const others = request.replace_changed.filter((id) => id !== orgId);
    const { status, text } = await system.instance.attempt('import', { ...trial, replace_changed: others });
    expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining('MIRROR_OUTDATED') });
  }
}

/** Adopts what an import has written that failed, and has deleted nothing. */
async function adoptFailed(model: Model, system: System, text: string): Promise<void> {
  const { errors = [], summary, deletions } = importReport.parse(JSON.parse(text));
  expect(errors.length + Object.keys(summary.failed).length, text).toBeGreaterThan(0);
  expect([summary.deleted, deletions], text).toEqual([undefined, undefined]);
  const actual = modelOf(await readDatabase(system.store));
  expect([...model.records.keys()].filter((place) => !actual.records.has(place))).toEqual([]);
  for (const [place, record] of actual.records) model.records.set(place, record);
  for (const { orgId } of actual.ofSection('org')) if (!model.scopes.has(orgId)) model.scopes.set(orgId, 'unsure');
  for (const { orgId } of model.users()) model.scopes.set(orgId, 'settled');
}

interface Response {
  readonly orgs: readonly Organisation[];
  readonly options: Options;
  readonly dryRun: boolean;
  /** Whether the response is about all records, because no earlier call was interrupted. */
  readonly isWhole: boolean;
  readonly text: string;
  readonly request: object;
}

async function checkMirrored(
  state: State,
  system: System,
  { orgs, options, dryRun, isWhole, text, request }: Response,
  { outcomes, deleted, after }: Exclude<Mirrored, 'fails'>,
): Promise<void> {
  const { summary, errors } = importReport.parse(JSON.parse(text));
  expect(errors, text).toBeUndefined();
  if (isWhole) {
    expect(summary.deleted ?? {}, text).toEqual(deleted);
    checkReport(state, { orgs, options, dryRun, stated }, text, { outcomes, after });
  }
  if (dryRun) return;
  state.model.records.clear();
  for (const [place, record] of after.records) state.model.records.set(place, record);
  for (const [userId] of [...state.model.instanceRoles])
    if (!after.instanceRoles.has(userId)) state.model.instanceRoles.delete(userId);
  for (const [id] of [...state.model.tokens]) if (!after.tokens.has(id)) state.model.tokens.delete(id);
  for (const [orgId, scope] of after.scopes) state.model.scopes.set(orgId, scope);
  const again = importReport.parse(JSON.parse((await system.import(request)).text)).summary;
  expect([again.deleted, again.created, again.overwritten, again.failed]).toEqual([undefined, {}, undefined, {}]);
  const orgIds = orgs.map(({ orgId }) => orgId);
  if (orgIds.length === 0) return;
  const target = await system.instance.export({ org_ids: orgIds, with_keys: options.withKeys });
  expect(comparable(target.orgs)).toEqual(comparable(orgs));
}
