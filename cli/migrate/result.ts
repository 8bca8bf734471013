import packageJson from '../../package.json' with { type: 'json' };
import { total } from '../../shared/collections/counts.ts';
import { defined } from '../../shared/defined.ts';
import { organisationSection } from '../../shared/organisation/allSections.ts';
import { outcomeCounts, repetitionWarnings } from '../exports/importOutcomes.ts';
import type { ImportResponse } from '../exports/importResponse.ts';
import { deletionsOf } from '../exports/mirrorDeletions.ts';
import { joinPeople, listConcernedPeople } from './concernedPeople.ts';
import { sortNotices } from './importNotices.ts';
import { listManualSteps, listOrganisationDeletions, listTakeBack, restoreDeleted } from './manualSteps.ts';
import type { MigrationRun } from './migrationRun.ts';
import type { MigrationPlan, MigrationResult } from './migrationTypes.ts';
import type { OpenSides } from './openSides.ts';
import type { MadePlan } from './plan.ts';
import { prove } from './proof.ts';
import { shownOptions } from './settings.ts';

export async function makeResult(
  run: MigrationRun,
  { plan, present: before }: MadePlan,
  sides: OpenSides,
): Promise<MigrationResult> {
  const { source, target } = sides;
  const { settings, response, stored } = run;
  const sorted = sortNotices(response, target, plan.leftToDo);
  // A migration into a file makes no import, so it has no response. In this case, the result lists the errors of the
  // plan.
  const planned = { errors: plan.refused, errorsOmitted: plan.refusedOmitted };
  const notices = response === undefined ? { ...sorted, ...planned } : sorted;
  // `listConcernedPeople` must run before the proof. After the proof, the database may contain only the records that
  // differ.
  const concerned = await listConcernedPeople(run, [...notices.errors, ...notices.leftToDo]);
  const proved = await prove(run, plan, sides);
  const { proof, credentials, organisations, activations, present: after } = proved;
  const { place: _, ...object } = stored ?? { place: '' };
  const leftToDo = [...activations.entries, ...notices.leftToDo];
  const described = { source: plan.source, target: { ...plan.target, ...object } };
  const callers = { from: source.facts?.caller?.userId ?? run.exported.exporterId, to: proved.targetCaller };
  const names = new Map(organisations.map(({ orgId, name }) => [orgId, name]));
  const { createdOrgs = [], created } = response?.summary ?? {};
  const createdCount = created?.[organisationSection.name] ?? 0;
  const seen = { before, after, created: createdOrgs, createdCount, names };
  return {
    outcome: outcomeOf(response, notices.errors.length + proof.unexpected),
    ...defined({ elsewhere: response?.elsewhere }),
    command: packageJson.version,
    startedAt: run.startedAt,
    finishedAt: new Date().toISOString(),
    ...defined({ sourceReadAt: run.sourceReadAt }),
    ...(proof.method === 'fields' && proof.unexpected === 0 ? { targetEqualAt: proof.provedAt } : {}),
    ...(settings.mirror === true && response !== undefined ? deletionsOf(response) : {}),
    ...described,
    options: shownOptions(settings),
    leftOut: run.exported.leftOut,
    organisations,
    moved: movedCounts(run, plan),
    phases: run.phases,
    ...notices,
    leftToDo,
    leftToDoOmitted: notices.leftToDoOmitted + activations.omitted,
    people: joinPeople(concerned, await listConcernedPeople(run, activations.entries)),
    warnings: [...ownWarnings(run), ...(response === undefined ? plan.warnings : notices.warnings)],
    proof,
    credentials,
    byHand: [
      ...listOrganisationDeletions(settings, { proof, target: described.target }),
      ...(await listManualSteps(run, described, callers)),
    ],
    takeBack: [...listTakeBack(plan.target, seen), ...restoreDeleted(plan.target, response)],
  };
}

/** @param problems the number of errors and of unexpected differences together */
function outcomeOf(response: ImportResponse | undefined, problems: number): MigrationResult['outcome'] {
  if (response?.elsewhere !== undefined) return 'failed';
  return problems > 0 || total(response?.summary.unconfirmed ?? {}) > 0 ? 'listed' : 'done';
}

function movedCounts({ exported: { organisations, records }, response }: MigrationRun, plan: MigrationPlan) {
  const imported = response && outcomeCounts(response.summary);
  return { organisations, records, exported: plan.sections, ...defined({ imported }) };
}

/** Returns the warnings that come from this command, not from the response of the import. */
function ownWarnings({ exported, isRepeated, response }: MigrationRun) {
  return [
    ...(isRepeated && response !== undefined ? repetitionWarnings(response.summary) : []),
    ...exported.notices.map((warning) => ({ type: 'export', ...warning })),
  ];
}
