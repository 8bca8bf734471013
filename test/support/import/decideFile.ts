import { expect } from 'vitest';
import { checkBatch } from '../../../functions/import/check/checkBatch.ts';
import { BatchPasswords } from '../../../functions/import/commit/batchPasswords.ts';
import type { RecordConflict } from '../../../functions/import/contract.ts';
import { decide } from '../../../functions/import/decide/decide.ts';
import { EarlierRecords } from '../../../functions/import/plan/earlierRecords.ts';
import { planOrganisation, toFileOrganisation } from '../../../functions/import/plan/organisations.ts';
import { PhasePlanner } from '../../../functions/import/plan/phasePlanner.ts';
import { loadTargets, settleLoginNames } from '../../../functions/import/plan/targets.ts';
import { readBatch } from '../../../functions/import/read/readBatch.ts';
import { carriedSections, parentSections } from '../../../functions/import/selectedContent.ts';
import { uniqueStamp } from '../../../functions/import/stamp.ts';
import { inspect } from '../../../shared/exportFile/inspection.ts';
import { ExportFileReader } from '../../../shared/exportFile/reader.ts';
import { claimsLoginNames, findSection } from '../../../shared/organisation/allSections.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { phases } from '../../../shared/organisation/sections/section.ts';
import { inPieces } from '../fixtures/bytes.ts';
import type { Organisation } from '../fixtures/organisations.ts';
import { importReport } from '../instances/testInstance.ts';
import type { MemoryStore } from '../stores/memoryStore.ts';
import { contextOf } from './batches.ts';

/**
 * Imports a file of organisations that exist or have records of their own, without HTTP, database and commits. Each
 * phase is one batch. The pure function decides each batch twice.
 * @returns the import's response
 */
export async function decideFile(store: MemoryStore, orgs: readonly Organisation[], onConflict: RecordConflict) {
  const source = { open: () => inPieces(Buffer.from(JSON.stringify({ orgs }))) };
  const usual = contextOf(store, onConflict, uniqueStamp(new Date()));
  const inspection = await inspect(source, usual.signal, { isSelected: () => true, limits: {} });
  const context = { ...usual, source, inspection, base: { ...usual.base, snapshot: () => store.view() } };
  const { rules, bcryptCost, signal } = context;
  const { report, stamps, created } = context.state;
  const write = async (plans: readonly RecordPlan[]) => {
    const check = () => checkBatch(context, plans);
    const passwords = new BatchPasswords(bcryptCost, signal);
    const { batch, stored } = await store.transaction((transaction) =>
      readBatch(transaction, context, plans, check, passwords),
    );
    const stamp = stamps.next();
    const decided = decide(batch, stored, rules, stamp);
    expect(decide(batch, stored, rules, stamp), 'the same values decided again').toEqual(decided);
    created.add(decided.records);
    await store.commit((await passwords.complete(decided)).writes);
    for (const { plan, outcome } of decided.records) report.add(plan.record, outcome);
  };

  const organisations = inspection.organisations.map(toFileOrganisation);
  await write(organisations.flatMap((organisation) => planOrganisation(organisation)));
  for (const { record } of organisations) if (record === undefined) report.count('unchanged', 'org');
  let targets = await loadTargets(context, new Set(inspection.organisations.map(({ orgId }) => orgId)), new Set());
  for (const phase of phases) {
    const carried = carriedSections(phase, inspection, { withKeys: true });
    const read = new Set([...carried, ...parentSections(carried, inspection)]);
    if ([...carried].some(claimsLoginNames)) targets = await settleLoginNames(context, targets);
    using earlier = onConflict === 'report' ? undefined : new EarlierRecords();
    const planner = new PhasePlanner(context, targets, phase, earlier);
    const reader = new ExportFileReader((name) => {
      const section = findSection(name);
      return section !== undefined && read.has(section);
    });
    const plans: RecordPlan[] = [];
    for await (const chunk of source.open()) for (const item of reader.push(chunk)) plans.push(...planner.plan(item));
    await write(plans);
  }
  return importReport.parse(report.toJson({ proved: false, dryRun: false }));
}
