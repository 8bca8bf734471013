import { expect, it } from 'vitest';
import type { JsonObject } from '../../shared/json/jsonObject.ts';
import { textsAt } from '../../shared/json/jsonObject.ts';
import { sections } from '../../shared/organisation/allSections.ts';
import type { Reference } from '../../shared/organisation/relations.ts';
import { isList, type Section } from '../../shared/organisation/sections/section.ts';
import { targetParts } from '../../shared/organisation/sections/sharedReferences.ts';
import { everySection, recordsOf } from '../support/fixtures/everySection.ts';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { type Report, testInstance } from '../support/instances/testInstance.ts';
import { describeStores, openTestStore } from '../support/stores/stores.ts';

const targets = ['present', 'missing', 'foreign'] as const;

/** A reference of a section's first record that has it, with the target that a row tries. */
interface Case {
  readonly section: Section;
  readonly reference: Reference;
  readonly target: (typeof targets)[number];
  readonly orgId: string;
}

const cases = sections.flatMap((section) =>
  (section.references ?? []).flatMap((reference, index) =>
    targets.map((target): Case => ({ section, reference, target, orgId: `${section.name}-${index}-${target}` })),
  ),
);

/** The organisation whose records are foreign, and one to which it grants its project. */
const foreign = everySection('foreign', ['third']);
const third = everySection('third', []);

/** The target's id in a record. */
function targetId({ reference }: Case, json: JsonObject, orgId: string): string {
  return (
    targetParts(reference, (path) => textsAt(json, path, orgId))
      .at(0)
      ?.at(-1) ?? ''
  );
}

/** Takes the record with the reference out of its organisation, and points the reference to another target. */
function split(row: Case): { stored: Organisation; file: Organisation } | undefined {
  const own = everySection(row.orgId, [foreign.orgId]);
  const { section, target } = row;
  const records = recordsOf(own, section);
  const record = records.find((json) => targetId(row, json, own.orgId) !== '');
  if (record === undefined) return undefined;
  const others = records.filter((one) => one !== record);
  const id = targetId(row, record, own.orgId);
  const replaced = {
    present: id,
    missing: 'none',
    foreign:
      row.reference.collection === 'organisations'
        ? third.orgId
        : id.replace(own.orgId, foreign.orgId).replace(`grant-${foreign.orgId}`, `grant-${third.orgId}`),
  }[target];
  // A role has no organisation: the project has it or not.
  if (target === 'foreign' && replaced === id) return undefined;
  const changed: JsonObject = JSON.parse(
    JSON.stringify(record).replaceAll(JSON.stringify(id), JSON.stringify(replaced)),
  );
  const rest = { ...own, [section.name]: isList(section) ? others : undefined };
  const file = { orgId: own.orgId, [section.name]: isList(section) ? [changed] : changed };
  return { stored: rest, file };
}

/** Returns the outcome of the only record of a section: the error's id and key, or the kind. */
function outcomeOf({ section }: Case, { errors, summary }: Report) {
  const error = errors?.find(({ type }) => type === section.error.type);
  if (error !== undefined) return error.message.replace(/^ID=(\S+) Message=/, '$1 ');
  const { created, notCarried } = summary;
  if (created[section.name] === 1) return 'created';
  return notCarried[section.name] === 1 ? 'not carried' : JSON.stringify(summary);
}

/** Distributes rows to rounds, each with at most one row of a section. */
function roundsOf<Tried extends { readonly row: Case }>(tried: readonly Tried[]): readonly Tried[][] {
  const rounds: Tried[][] = [];
  for (const one of tried) {
    const isFree = (round: readonly Tried[]) => !round.some(({ row }) => row.section === one.row.section);
    const round = rounds.find(isFree);
    if (round === undefined) rounds.push([one]);
    else round.push(one);
  }
  return rounds;
}

describeStores('the references of each kind of record', (kind) => {
  it('have the outcomes of the file, if their targets are present, missing or of another organisation', async () => {
    const instance = await testInstance(await openTestStore(kind));
    const tried = cases.flatMap((row) => {
      const parts = split(row);
      return parts === undefined ? [] : [{ row, ...parts }];
    });
    const orgs = [foreign, third, ...tried.map(({ stored }) => stored)];
    await instance.import({ data_orgs: { orgs }, with_keys: true });
    const outcomes = new Map<Case, string>();
    // A report counts records by section, so an import has at most one row of each.
    for (const round of roundsOf(tried)) {
      const report = await instance.import({ data_orgs: { orgs: round.map(({ file }) => file) }, with_keys: true });
      for (const { row } of round) outcomes.set(row, outcomeOf(row, report));
    }
    const lines = new Map<string, string[]>();
    for (const { row } of tried) {
      const { section, reference, target } = row;
      const name = `${section.name}.${reference.key.at(-1)} -> ${reference.collection}`;
      lines.set(name, [...(lines.get(name) ?? []), `${target}: ${outcomes.get(row)}`]);
    }
    const text = [...lines].map(([name, outcomes]) => `${name}\n  ${outcomes.join(', ')}\n`).join('');
    await expect(text).toMatchFileSnapshot('../fixtures/reference-outcomes.txt');
  });
});
