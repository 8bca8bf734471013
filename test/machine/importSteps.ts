import fc from 'fast-check';
import { expect } from 'vitest';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { importReport } from '../support/instances/testInstance.ts';
import { adopt } from './adoption.ts';
import { anyFile, asV1, type OtherValues, withOther } from './file.ts';
import type { Model } from './model.ts';
import { isContradictory, type Stated } from './modelFile.ts';
import { importFile, type Options, type Outcome } from './modelImport.ts';
import { comparableSuccess, successOf } from './modelSuccess.ts';
import { expectWarnings } from './modelWarnings.ts';
import { hasOpenOutcome } from './openOutcomes.ts';
import { brief, type Interrupted, required, type State, type Step, step } from './step.ts';
import type { End, System } from './system.ts';

const anyOptions: fc.Arbitrary<Options> = fc.record({
  onConflict: fc.constantFrom('overwrite', 'report', 'overwrite', 'skip', 'overwrite', 'fail'),
  withKeys: fc.boolean(),
});
/** Options with which an import takes existing organisations. */
export const takingOptions = anyOptions.filter(({ onConflict }) => onConflict !== 'fail');
export const anyEnd = fc.record({
  end: fc.constantFrom<End[]>('dies before', 'dies after', 'client leaves after', 'client leaves during', 'repeats'),
  commit: fc.integer({ min: 1, max: 6 }),
});
/** The request forms for the same file. */
const forms: readonly ((orgs: readonly Organisation[]) => object)[] = [
  (orgs) => ({ data_orgs: { orgs } }),
  (orgs) => ({ data_orgsv1: { orgs } }),
  (orgs) => ({ data_orgsv1: JSON.stringify({ orgs }) }),
];

export interface Sent {
  readonly orgs: readonly Organisation[];
  readonly options: Options;
  readonly dryRun?: boolean;
  readonly form?: number;
  /** What the file's manifest states. */
  readonly stated?: Stated;
  readonly until?: { readonly end: End; readonly commit: number };
}

const whole = fc
  .record({
    orgs: anyFile,
    options: anyOptions,
    dryRun: fc.constantFrom(false, false, true),
    form: fc.nat(2),
    v1: fc.boolean(),
  })
  .map(({ v1, ...sent }) => ({ ...sent, orgs: v1 ? asV1(sent.orgs) : sent.orgs }))
  .map((sent) => importStep(named(sent), sent));
const ended = fc
  .record({ orgs: anyFile, options: anyOptions, until: anyEnd })
  .map((sent) => importStep(named(sent), sent));
const resumed = fc.record({ nth: fc.nat(3), until: fc.option(anyEnd, { nil: undefined, freq: 4 }) }).map(resumeStep);
const exported = fc
  .record({
    options: takingOptions,
    dryRun: fc.boolean(),
    other: fc.constantFrom<(OtherValues | undefined)[]>(undefined, 'secrets', 'texts'),
  })
  .map(reimportStep);

const kept = fc.record({ withPasswords: fc.boolean(), withOtp: fc.boolean() }).map(keepStep);
const restored = fc.record({ options: takingOptions, dryRun: fc.constantFrom(false, false, true) }).map(restoreStep);

/** Imports of files, some of which are interrupted and sent again. */
export const importSteps: readonly fc.Arbitrary<Step>[] = [
  whole,
  whole,
  whole,
  ended,
  ended,
  resumed,
  resumed,
  resumed,
  exported,
  exported,
  kept,
  restored,
  restored,
];

export function importStep(name: string, sent: Sent): Step {
  const run = (state: State, system: System) => send(state, system, sent);
  return step(name, run, ({ model }) => !hasOpenOutcome(model, sent.orgs, sent.options));
}

/** An import in a line, without its usual options. */
export function named({ orgs, options: { onConflict, withKeys }, dryRun = false, form = 0, until }: Sent): string {
  const words = [
    onConflict,
    ...(withKeys ? ['with keys'] : []),
    ...(dryRun ? ['dry run'] : []),
    ...(form === 0 ? [] : [`form ${form}`]),
    ...(until === undefined ? [] : [`${until.end} commit ${until.commit}`]),
  ];
  return `import (${words.join(', ')}) ${brief(orgs)}`;
}

function resumeStep({ nth, until }: { nth: number; until: Sent['until'] }): Step {
  const chosen = ({ interrupted }: State) => interrupted[nth % Math.max(1, interrupted.length)];
  return step(
    `resume ${brief({ nth, until })}`,
    (state, system) => send(state, system, { ...required(chosen(state)), ...(until === undefined ? {} : { until }) }),
    (state) => {
      const one = chosen(state);
      return one !== undefined && !hasOpenOutcome(state.model, one.orgs, one.options);
    },
  );
}

/** Imports the present records, or all of them with other values: the report then counts each as overwritten. */
export function reimportStep({
  options,
  dryRun,
  other,
}: Pick<Sent, 'options'> & { dryRun: boolean; other: OtherValues | undefined }): Step {
  return step(`import the export ${brief({ options, dryRun, other })}`, async (state, system) => {
    const { bytes, orgs } = await system.instance.export();
    if (other !== undefined) {
      const changed = withOther(other, orgs);
      await sendWhole(state, system, { orgs: changed, options, dryRun }, { data_orgs: { orgs: changed } });
      return;
    }
    const stated = { withPasswords: true, withOtp: true };
    const summary = await sendWhole(state, system, { orgs, options, dryRun, stated }, { data_orgs: bytes });
    expect(summary.proved).toBe(true);
  });
}

function keepStep(stated: Required<Stated>): Step {
  return step(`keep an export ${brief(stated)}`, async (state, system) => {
    const { withPasswords, withOtp } = stated;
    const { bytes, orgs } = await system.instance.export({ with_passwords: withPasswords, with_otp: withOtp });
    state.kept = { bytes, orgs, stated };
  });
}

function restoreStep({ options, dryRun }: { options: Options; dryRun: boolean }): Step {
  return step(
    `import the kept export ${brief({ options, dryRun })}`,
    async (state, system) => {
      const { bytes, orgs, stated } = required(state.kept);
      const summary = await sendWhole(state, system, { orgs, options, dryRun, stated }, { data_orgs: bytes });
      expect(summary.proved).toBe(true);
    },
    ({ model, kept }) => kept !== undefined && !hasOpenOutcome(model, kept.orgs, options),
  );
}

async function send(state: State, system: System, sent: Sent): Promise<void> {
  const { orgs, options, until, form = 0 } = sent;
  const file = forms[form]?.(orgs) ?? {};
  if (isContradictory(orgs)) {
    const { status, text } = await system.instance.attempt('import', requestOf(sent, file));
    expect(status, text).toBe(400);
    return;
  }
  if (options.onConflict === 'fail' && orgs.some(({ orgId }) => state.model.has('organisations', orgId))) {
    const { status, text } = await system.instance.attempt('import', requestOf(sent, file));
    expect(status, text).toBe(409);
    return;
  }
  if (until === undefined) {
    await sendWhole(state, system, sent, file);
    return;
  }
  const { status, text } = await system.importUntil(requestOf(sent, file), until.end, until.commit);
  if (status === 200) {
    checkReport(state, sent, text);
    return;
  }
  expect(status, text).toBe(until.end.startsWith('client leaves') ? 499 : 503);
  const { model, interrupted } = state;
  const { after } = importIntoCopy(model, { orgs, options });
  await adopt(model, after, system.store);
  for (const orgId of after.scopes.keys()) if (!model.scopes.has(orgId)) model.scopes.set(orgId, 'unsure');
  for (const { orgId } of model.users()) model.scopes.set(orgId, 'settled');
  if (matching(state, sent) === undefined) interrupted.push({ orgs, options });
}

async function sendWhole(state: State, system: System, sent: Sent, file: object) {
  const { status, text } = await system.instance.attempt('import', requestOf(sent, file));
  expect(status, text).toBe(200);
  return checkReport(state, sent, text);
}

export function requestOf({ options, dryRun = false }: Sent, file: object): object {
  const { onConflict, withKeys } = options;
  return { ...file, on_conflict: onConflict, with_keys: withKeys, dry_run: dryRun };
}

function matching({ interrupted }: State, { orgs, options }: Sent): Interrupted | undefined {
  const key = JSON.stringify([orgs, options]);
  return interrupted.find((one) => JSON.stringify([one.orgs, one.options]) === key);
}

function importIntoCopy(model: Model, { orgs, options, stated }: Sent) {
  const after = model.clone();
  return { outcomes: importFile(after, orgs, options, stated), after };
}

/**
 * Imports into the model, and compares its outcome with the report.
 * @param expected the outcome; by default that of an import without deletions
 */
export function checkReport(
  state: State,
  sent: Sent,
  text: string,
  { outcomes, after } = importIntoCopy(state.model, sent),
) {
  const { model, interrupted } = state;
  const { errors = [], success, summary } = importReport.parse(JSON.parse(text));
  expect(summary.dryRun === true).toBe(sent.dryRun === true);
  const { created, unchanged, overwritten = {}, skipped = {}, failed, notCarried } = summary;
  const counts = { created, unchanged, overwritten, skipped, failed, notCarried };
  expect(counts).toEqual(countsOf(outcomes));
  expect(errors.map(({ type, id, message }) => `${type} ${id} ${message}`).sort()).toEqual(
    outcomes.flatMap(({ error }) => (error === undefined ? [] : [`${error.type} ${error.id} ${error.message}`])).sort(),
  );
  expect(comparableSuccess(success.orgs ?? [])).toEqual(comparableSuccess(successOf(sent.orgs, outcomes, after)));
  expectWarnings(
    summary.warnings,
    outcomes.flatMap((outcome) => outcome.warnings),
  );
  expect(JSON.stringify(summary.warnings).includes('manifest_missing')).toBe(!summary.proved);
  if (sent.dryRun === true) return summary;
  replace(model, after);
  for (const [orgId, scope] of after.scopes) model.scopes.set(orgId, scope);
  const own = matching(state, sent);
  if (own !== undefined) interrupted.splice(interrupted.indexOf(own), 1);
  return summary;
}

function countsOf(outcomes: readonly Outcome[]): Record<Outcome['kind'], Record<string, number>> {
  const counts: Record<Outcome['kind'], Record<string, number>> = {
    ...{ created: {}, unchanged: {}, overwritten: {}, skipped: {}, failed: {}, notCarried: {} },
  };
  for (const { kind, section } of outcomes) counts[kind][section] = (counts[kind][section] ?? 0) + 1;
  return counts;
}

function replace(model: Model, after: Model): void {
  model.records.clear();
  for (const [place, record] of after.records) model.records.set(place, record);
}
