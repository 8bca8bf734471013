import fc from 'fast-check';
import { expect } from 'vitest';
import { recordSection } from '../../shared/organisation/allSections.ts';
import { comparable } from '../support/fixtures/comparable.ts';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { exportedFile, importReport } from '../support/instances/testInstance.ts';
import { readDatabase } from '../support/stores/database.ts';
import { contentOf, contentsOf, modelOf } from './contents.ts';
import { anyFile, anyOrg, anyUser, orgIds, withOther } from './file.ts';
import { named, requestOf, type Sent, takingOptions } from './importSteps.ts';
import { type ModelRecord, placeOf, reportedId } from './kinds.ts';
import type { Model } from './model.ts';
import { exportedOrganisations, isContradictory, readFile } from './modelFile.ts';
import { importFile, phases } from './modelImport.ts';
import { hasOpenOutcome, hasRepetitions } from './openOutcomes.ts';
import { anyProtection, naming, type Protection } from './protections.ts';
import { brief, type State, type Step, step } from './step.ts';
import type { Response, System } from './system.ts';

const anySent: fc.Arbitrary<Sent> = fc
  .record({ orgs: anyFile, options: takingOptions })
  .filter(({ orgs }) => !isContradictory(orgs))
  // With `report`, a record that the other call lets fail leaves its id to a later one.
  .filter(({ orgs, options }) => options.onConflict !== 'report' || !hasRepetitions(orgs));
const anyMoment = fc.record({ commit: fc.integer({ min: 0, max: 6 }), turns: fc.integer({ min: 0, max: 200 }) });

type Effect = (model: Model) => unknown;
/** A call's effects in order: another call may take effect between two of them. */
type Effects = readonly Effect[];

/** An import takes effect phase by phase. */
const effectsOf = ({ orgs, options }: Sent): Effects =>
  phases.map((phase) => (model) => importFile(model, orgs, options, {}, [phase]));
const isDecidedIn = (model: Model, { orgs, options }: Sent) => !hasOpenOutcome(model, orgs, options);
const isDecided =
  (...files: readonly Sent[]) =>
  ({ model }: State) =>
    files.every((sent) => isDecidedIn(model, sent));
const bodyOf = (sent: Sent) => requestOf(sent, { data_orgs: { orgs: sent.orgs } });

const twoImports = fc.record({ first: anySent, second: anySent, moment: anyMoment }).map(({ first, second, moment }) =>
  step(
    `${named(first)} beside ${named(second)} ${brief(moment)}`,
    async (state, system) => {
      const before = state.model.clone();
      const responses = await system.importBeside(bodyOf(first), moment, () => system.import(bodyOf(second)));
      await adoptAny(state, system, effectsOf(first), effectsOf(second));
      expectCreated(before, state.model, responses);
    },
    isDecided(first, second),
  ),
);

/** Calls that take something away, and wait for an import. */
const removals: readonly fc.Arbitrary<{ name: string; call: (system: System) => Promise<unknown>; effect: Effect }>[] =
  [
    anyOrg.map((orgId) => ({
      name: `org delete ${orgId}`,
      call: (system) => system.run('org delete', [orgId], { yes: true }),
      effect: (model) => model.deleteOrganisation(orgId),
    })),
    anyUser.map((userId) => ({
      name: `service-user delete ${userId}`,
      call: (system) => system.run('service-user delete', [userId]),
      effect: (model) => {
        if (model.find('users', userId)?.section === 'machineUsers') model.deleteUser(userId);
      },
    })),
  ];

const importBesideRemoval = fc
  .record({ sent: anySent, removal: fc.oneof(...removals), moment: anyMoment })
  .map(({ sent, removal, moment }) =>
    step(
      `${named(sent)} beside ${removal.name} ${brief(moment)}`,
      async (state, system) => {
        const [{ status, text }] = await system.importBeside(bodyOf(sent), moment, () => removal.call(system));
        expect([200, 404, 409, 503], text).toContain(status);
        await adoptAny(state, system, effectsOf(sent), [removal.effect]);
      },
      isDecided(sent),
    ),
  );

/** A file that was chosen before, or one with the present records, which a call then changes while it is imported. */
const presentOr = (sent: Sent, isPresent: boolean) => (model: Model) => {
  const present = presentIn(model);
  return isPresent && present.length > 0 ? { ...sent, orgs: present } : sent;
};

function presentIn(model: Model): readonly Organisation[] {
  return exportedOrganisations(model, orgIds, { withPasswords: true, withOtp: true, withKeys: true });
}

const importBesideProtection = fc
  .record({ sent: anySent, isPresent: fc.boolean(), protection: anyProtection, moment: anyMoment })
  .map(({ sent: chosen, isPresent, protection: { name, choose }, moment }) => {
    const sentIn = presentOr(chosen, isPresent);
    return step(
      `${isPresent ? `import (${chosen.options.onConflict}) of the present records` : named(chosen)} beside ${name} ${brief(moment)}`,
      async (state, system) => {
        const before = state.model.clone();
        const sent = sentIn(before);
        const protection = choose(before, new Set(readFile(sent.orgs).flatMap(({ records }) => records.map(placeOf))));
        await naming(protection, async () => {
          const call = () => protection.call(system);
          const [response, hasSucceeded] = await system.importBeside(bodyOf(sent), moment, call);
          await adoptAny(state, system, effectsOf(sent), hasSucceeded ? [protection.effect] : []);
          if (hasSucceeded) expectProtected(before, state.model, { sent, protection, response });
          else expect(changedMeanwhile(response)).toEqual([]);
        });
      },
      (state) => isDecided(sentIn(state.model))(state),
    );
  });

/** A call that changes records while an export reads them. */
interface Write {
  readonly name: string;
  readonly in: (model: Model) => {
    readonly call: (system: System) => Promise<unknown>;
    readonly effects: Effects;
    readonly isPossible: boolean;
  };
}

const importing = (name: string, sentIn: (model: Model) => Sent): Write => ({
  name,
  in: (model) => {
    const sent = sentIn(model);
    const call = async (system: System) => {
      const { status, text } = await system.import(bodyOf(sent));
      expect(status, text).toBe(200);
    };
    return { call, effects: effectsOf(sent), isPossible: isDecidedIn(model, sent) };
  },
});
/** An import of other values of all records: an export that reads some of them afterwards has a mixture. */
const importOfOtherValues = importing('an import of other values', (model) => ({
  orgs: withOther('texts', presentIn(model)),
  options: { onConflict: 'overwrite', withKeys: true },
}));
const anyWrite: fc.Arbitrary<Write> = fc.oneof(
  anySent.map((sent) => importing(named(sent), () => sent)),
  fc.constant(importOfOtherValues),
  ...removals.map((removal) =>
    removal.map(({ name, call, effect }) => ({ name, in: () => ({ call, effects: [effect], isPossible: true }) })),
  ),
);

/** Selected organisations are read section by section; all organisations' sections are begun together. */
const anySelected = fc.constantFrom([], orgIds, orgIds);
/** Exports of so few records make few reads, and the write must happen during one of them. */
const anyRead = fc.integer({ min: 1, max: 8 });

interface ExportBeside {
  readonly write: Write;
  readonly selected: readonly string[];
  readonly read: number;
}

function exportBesideStep({ write, selected, read }: ExportBeside): Step {
  return step(
    `export of ${brief(selected)}, at read ${read} ${write.name}`,
    async (state, system) => {
      const expected = presentIn(state.model);
      const { call, effects } = write.in(state.model);
      const selection = { with_passwords: true, with_otp: true, with_keys: true, response_output: true };
      const body = { ...selection, org_ids: selected, excluded_org_ids: [system.instance.orgId] };
      const { status, text } = await system.exportBeside(body, read, async () => void (await call(system)));
      expect(status, text).toBe(200);
      expect(comparable(exportedFile.parse(JSON.parse(text)).orgs)).toEqual(comparable(expected));
      await adoptAny(state, system, effects, []);
    },
    ({ model }) => write.in(model).isPossible,
  );
}
const exportBesideWrite = fc.record({ write: anyWrite, selected: anySelected, read: anyRead }).map(exportBesideStep);

/** An export of selected organisations. An import changes all their records before the export reads any. */
export const exportBesideChanges = exportBesideStep({ write: importOfOtherValues, selected: orgIds, read: 2 });

/**
 * Calls at the same time, in an unknown order. Each record must be as after one of the possible orders, and the
 * database must be consistent.
 */
export const besideSteps: readonly fc.Arbitrary<Step>[] = [
  twoImports,
  twoImports,
  importBesideRemoval,
  importBesideRemoval,
  importBesideProtection,
  importBesideProtection,
  importBesideProtection,
  importBesideProtection,
  exportBesideWrite,
  exportBesideWrite,
  exportBesideWrite,
];

/**
 * Adopts the content of the database, in which each record is as after one of two calls, or both: either of them took
 * effect before, after or in the midst of the other.
 */
async function adoptAny({ model }: State, system: System, one: Effects, other: Effects): Promise<void> {
  const candidates = [[], one, other, ...within(one, other), ...within(other, one)].map((effects) => {
    const after = model.clone();
    for (const effect of effects) effect(after);
    return after;
  });
  const actual = modelOf(await readDatabase(system.store));
  const places = new Set([actual, ...candidates].flatMap(({ records }) => [...records.keys()]));
  for (const place of places) {
    if ([actual, ...candidates].some(({ records }) => isDependent(records.get(place)))) continue;
    const values = [actual, ...candidates].map(({ records }) => textIn(records, place));
    expect(values.slice(1), place).toContain(values[0]);
  }
  assign(model.records, actual.records);
  assign(model.instanceRoles, actual.instanceRoles);
  for (const id of model.tokens.keys()) if (!actual.tokens.has(id)) model.tokens.delete(id);
  settleScopes(model, candidates);
  for (const orgId of model.outdated) if (!model.has('organisations', orgId)) model.outdated.delete(orgId);
}

/** Returns the orders in which a call takes effect before, after or in the midst of another one. */
function within(call: Effects, other: Effects): readonly Effects[] {
  return [...other.keys(), other.length].map((before) => [...other.slice(0, before), ...call, ...other.slice(before)]);
}

/** Whether a record depends on others, which calls at the same time mix: its soundness is judged alone. */
function isDependent(record: ModelRecord | undefined): boolean {
  if (record === undefined) return false;
  return record.section === 'domains' || recordSection(record.section).references !== undefined;
}

function textIn(records: Model['records'], place: string): string | undefined {
  const record = records.get(place);
  return record === undefined ? undefined : contentOf(record);
}

function assign<Value>(target: Map<string, Value>, source: ReadonlyMap<string, Value>): void {
  target.clear();
  for (const [key, value] of source) target.set(key, value);
}

/** An organisation may have fixed the scope of its login names without users that are left. */
function settleScopes(model: Model, candidates: readonly Model[]): void {
  for (const orgId of candidates.flatMap(({ scopes }) => [...scopes.keys()]))
    if (!candidates.every(({ scopes }) => scopes.get(orgId) === 'settled')) model.scopes.set(orgId, 'unsure');
  for (const { orgId } of model.users()) model.scopes.set(orgId, 'settled');
}

/**
 * Expects that an import has not undone what a call changed after it had begun: a record that the import would have written
 * is an error with its reason, unless the import came first.
 */
function expectProtected(
  before: Model,
  after: Model,
  { sent, protection, response }: { sent: Sent; protection: Protection; response: Response },
): void {
  const { effect, place } = protection;
  const asAfter = (...effects: Effects) => {
    const model = before.clone();
    for (const take of effects) take(model);
    return model;
  };
  const called = asAfter(effect);
  const repeated = after.clone();
  effect(repeated);
  expect(withoutSequences(repeated), 'the effect of the call is gone').toEqual(withoutSequences(after));
  const [error, ...more] = changedMeanwhile(response);
  expect(more).toEqual([]);
  const isLike = (model: Model) => place !== undefined && textIn(model.records, place) === textIn(after.records, place);
  const subject = place === undefined ? undefined : (before.records.get(place) ?? after.records.get(place));
  const isKept = isLike(called);
  if (error !== undefined) expect([error.id, isKept]).toEqual([subject && reportedId(subject), true]);
  else if (isKept && !isLike(asAfter(...effectsOf(sent), effect)))
    expect(isLike(asAfter(effect, ...effectsOf(sent))), `${place} was kept without an error`).toBe(true);
}

/** Returns the contents of a model without the numbers of changes. */
function withoutSequences(model: Model): Record<string, string> {
  const copy = model.clone();
  for (const [place, record] of copy.records) copy.records.set(place, { ...record, sequence: 0 });
  return contentsOf(copy);
}

/** Lists an import's errors about records that other calls have changed. */
function changedMeanwhile({ status, text }: Response) {
  expect(status, text).toBe(200);
  return importReport.parse(JSON.parse(text)).reasons.filter(({ reason }) => reason === 'changed_meanwhile');
}

/** Expects that exactly one of two imports reports each new record as created. */
function expectCreated(before: Model, after: Model, responses: readonly Response[]): void {
  const reported: Record<string, number> = {};
  for (const { status, text } of responses) {
    expect(status, text).toBe(200);
    for (const [section, count] of Object.entries(importReport.parse(JSON.parse(text)).summary.created))
      reported[section] = (reported[section] ?? 0) + count;
  }
  const isNew = ([place]: readonly [string, unknown]) => !before.records.has(place);
  const added = [...after.records].filter(isNew);
  const counts = Object.groupBy(added, ([, { section }]) => section);
  expect(reported).toEqual(Object.fromEntries(Object.entries(counts).map(([name, list = []]) => [name, list.length])));
}
