import { firstIds, organisationsExist } from '../../shared/errors/errors.ts';
import { loginNameWarnings } from '../../shared/exportFile/fileWarnings.ts';
import { claimsLoginNames } from '../../shared/organisation/allSections.ts';
import { phases } from '../../shared/organisation/sections/section.ts';
import { organisationKey } from '../../shared/store/documentKeys.ts';
import { READ_BATCH } from '../../shared/store/store.ts';
import { inTurns } from '../../shared/turns.ts';
import type { ImportContext } from './context.ts';
import { settleLoginNames, type Targets } from './plan/targets.ts';
import { nameRepetitions } from './results/repeatedRecords.ts';
import { carriedSections, countNotCarried, missingWarnings, orgIdsOf, parentSections } from './selectedContent.ts';
import { isCreatedByCall } from './stamp.ts';
import { writeOrganisations } from './writeOrganisations.ts';
import { writePhase } from './writePhase.ts';

export async function writeFile(context: ImportContext): Promise<void> {
  const { settings, inspection } = context;
  const { report } = context.state;
  const { onConflict } = settings;
  if (onConflict === 'fail') await requireNew(context);
  for (const warning of loginNameWarnings(inspection, context.loginNamesByDefault)) report.addFileWarning(warning);
  enterPhase(context, 1);
  const targets = await writeOrganisations(context);
  // Another import may have created an organisation between the first check and the writes.
  if (onConflict === 'fail') await requireNew(context);
  await writePhases(context, targets);
  for (const warning of missingWarnings(inspection, settings)) report.addWarning(warning);
  countNotCarried(inspection, settings, report);
  await nameRepetitions({ ...context, report });
}

/**
 * Requires that no organisation of the file existed before this call. Organisations that this call created do not
 * count.
 * @throws IdentityError ALREADY_EXISTS if an organisation of the file existed; the signal's reason after an abort
 */
async function requireNew({ inspection, store, signal, rules }: ImportContext): Promise<void> {
  const existing: string[] = [];
  for await (const batch of inTurns(orgIdsOf(inspection), READ_BATCH, signal)) {
    const documents = await store.getMany(batch.map(organisationKey), ['createdAt']);
    existing.push(
      ...batch.filter((_, index) => {
        const document = documents[index];
        return document !== undefined && !isCreatedByCall(rules, document);
      }),
    );
  }
  if (existing.length > 0) throw organisationsExist({ orgIds: firstIds(existing) });
}

async function writePhases(context: ImportContext, existing: Targets): Promise<void> {
  const { settings, inspection } = context;
  let targets = existing;
  for (const phase of phases) {
    enterPhase(context, phase + 1);
    const carried = carriedSections(phase, inspection, settings);
    if (carried.size === 0) continue;
    if ([...carried].some(claimsLoginNames)) targets = await settleLoginNames(context, targets);
    await writePhase(context, targets, phase, new Set([...carried, ...parentSections(carried, inspection)]));
  }
}

/** Reports the start of a phase. Writing the organisations is phase 1. */
function enterPhase({ settings, state }: ImportContext, phase: number): void {
  state.report.enterPhase(phase);
  settings.onProgress?.();
}
