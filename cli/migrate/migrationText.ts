// Plans and results as lines of text.

import { type Counts, total } from '../../shared/collections/counts.ts';
import { secretNames } from '../../shared/exportFile/secretSelection.ts';
import { differenceLines, firstDifferences, notComparedLines } from '../differenceTexts.ts';
import { elsewhereLines, type Notice, noticeSection, noticeText } from '../notices.ts';
import { counted, countList, figures, firstLines, firstOf, hashLine, named, numberText } from '../numberTexts.ts';
import { phaseText } from '../progress.ts';
import { commandLine, type Line, section } from '../terminal.ts';
import { describeCredentials } from './credentialText.ts';
import type { MigrationPlan, MigrationResult } from './migrationDocuments.ts';
import { migrateCommand, peoplePath } from './runDirectory.ts';

/** Whether a plan contains no records. */
export function isEmptyPlan({ sections }: MigrationPlan): boolean {
  return total(sections) === 0;
}

/** Formats a plan for people. The facts that matter most for the decision come last. */
export function planText(plan: MigrationPlan, directory: string): Line[] {
  const { target, checks, leftOut, organisations, organisationsOmitted, leftToDo } = plan;
  const ofStatus = (wanted: string) => checks.flatMap(({ status, message }) => (status === wanted ? [message] : []));
  // Selected secrets that the source lacks are a warning.
  const isCaution = ({ reason }: Notice) => reason === 'secrets_not_in_source';
  const byHand = leftToDo.filter((entry) => !isCaution(entry));
  const kept = conflictLines(plan);
  const [conflicts, decided] = plan.onConflict === 'report' ? [kept, []] : [[], kept];
  const cautions = [...ofStatus('warning'), ...decided, ...leftToDo.filter(isCaution).map(noticeText)];
  return [
    ...section(planHeadline(plan), planFacts(plan)),
    ...section('Organisations', firstLines(organisations.map(organisationLine), 'organisation', organisationsOmitted)),
    ...section(
      'Left out',
      leftOut.map(({ orgId, reason }) => `${orgId}: ${reason}`),
    ),
    ...section('Checked', ofStatus('ok')),
    ...section('Does not move', plan.losses),
    ...section(`Changed by ${target.place}`, plan.changes),
    ...noticeSection('left to do', byHand, plan.leftToDoOmitted),
    ...peopleSection(plan, directory),
    ...noticeSection('error', plan.refused, plan.refusedOmitted, conflicts),
    ...noticeSection('warning', plan.warnings, plan.warningsOmitted, cautions),
    ...section('Undone by --on-conflict overwrite', undoneLines(plan)),
    ...section('Passwords and second factors, if all arrive', credentialLines(plan)),
  ];
}

/** Names the file with all people whom errors and manual steps are about. */
function peopleSection({ people }: Pick<MigrationResult, 'people'>, directory: string): Line[] {
  if (people.length === 0) return [];
  const all = `errors and steps by hand are about ${counted(people.length, 'person')}, all listed with their addresses in`;
  return section('People', [`${all} ${peoplePath(directory)}`]);
}

function undoneLines({ undone, undoneOmitted }: MigrationPlan): string[] {
  const lines = undone.map(({ id, name, orgId, changes }) => `${named(id, name)} of ${orgId} ${changes.join(', ')}`);
  return firstLines(lines, 'person', undoneOmitted);
}

function planHeadline({ source, sections, before, organisations, organisationsOmitted }: MigrationPlan): string {
  const records = total(sections);
  if (records === 0) return `Nothing to move: ${source.place} has none of the selected organisations`;
  const what = `${counted(organisations.length + organisationsOmitted, 'organisation')} with ${counted(records, 'record')}`;
  return before.absent === records ? `${what} to move` : `${what}: ${standing(before)}`;
}

/** Formats the comparison with the target. */
function standing({ absent, differentAsExpected, onlyTarget, ...both }: MigrationPlan['before']): string {
  const others = { 'different as expected': differentAsExpected, 'only in the target': onlyTarget };
  return figures({ 'not there': absent, ...both, ...others }).join(', ');
}

function planFacts(plan: MigrationPlan): string[] {
  const { source, target, sections, secrets } = plan;
  const places = [`from ${source.place}`, `to   ${target.place}`];
  if (isEmptyPlan(plan)) return places;
  const found = Object.keys(secrets.found).length === 0 ? '' : ` (the export contains ${countList(secrets.found)})`;
  return [
    ...places,
    `records: ${countList(sections)}`,
    `secrets: ${secrets.selected.join(', ') || 'none'}${found}`,
    hashLine(plan.hashFormats),
  ];
}

/** The handling of records that exist with other content. */
const remedies: Readonly<Record<MigrationPlan['onConflict'], string>> = {
  report: 'they stay, and are listed as errors; --on-conflict skip or overwrite decides otherwise',
  skip: 'they stay',
  overwrite: 'they are overwritten',
};

/** Returns the line about conflicts, unless the errors of the trial list them. */
function conflictLines({ before: { different }, onConflict, refused }: MigrationPlan): string[] {
  if (different === 0 || (onConflict === 'report' && refused.length > 0)) return [];
  const exist = different === 1 ? 'exists' : 'exist';
  return [`${counted(different, 'record')} ${exist} with other content: ${remedies[onConflict]}`];
}

function organisationLine({ orgId, name, people, records, before }: MigrationPlan['organisations'][number]): string {
  return `${named(orgId, name)}: ${counted(records, 'record')}, ${counted(people, 'person')}: ${standing(before)}`;
}

function credentialLines({ credentials, target }: Pick<MigrationResult, 'credentials' | 'target'>): string[] {
  if (credentials === undefined || credentials.people === 0) return [];
  const { sentence, reasons } = describeCredentials(credentials, target.kind);
  return [sentence, ...reasons.map((reason) => `others: ${reason}`)];
}

/** Formats a result for people. */
export function resultText(result: MigrationResult, directory: string): Line[] {
  const { source, target, moved, proof, phases } = result;
  // Shows the last reading of each side.
  const last = phases.filter(({ phase }, index) => phases.findLastIndex((one) => one.phase === phase) === index);
  const imported = Object.entries(outcomesOf(moved)).filter(([, counts]) => total(counts) > 0);
  return [
    ...elsewhereLines(result.elsewhere ?? []),
    { text: resultHeadline(result), style: result.outcome === 'done' ? 'good' : 'bad' },
    ...section('Summary', [
      `from ${source.place}`,
      `to   ${target.place}`,
      ...imported.map(([outcome, counts]) => `${outcome}: ${countList(counts)}`),
      ...last.map((phase) => `${phase.phase}: ${phaseText(phase)}`),
    ]),
    ...section('Proof', [proof.description, ...proofLines(result)]),
    ...section('Differences', differenceList(proof)),
    ...section('Passwords and second factors', credentialLines(result)),
    ...noticeSection('left to do', result.leftToDo, result.leftToDoOmitted),
    ...peopleSection(result, directory),
    ...noticeSection('error', result.errors, result.errorsOmitted),
    ...noticeSection('warning', result.warnings, result.warningsOmitted),
    ...section('Clean up', [commandLine(migrateCommand('cleanup', directory))]),
  ];
}

/** Returns the outcome of a migration, such as `Done` or `Finished with 1 difference and 2 errors`. */
export function endText({ outcome, proof, errors, errorsOmitted }: MigrationResult): string {
  if (outcome === 'done') return 'Done';
  const failures = { difference: proof.unexpected, error: errors.length + errorsOmitted };
  const problems = Object.entries(failures).flatMap(([noun, count]) => (count === 0 ? [] : [counted(count, noun)]));
  return `Finished with ${problems.join(' and ')}`;
}

/** Returns the headline of a result: the outcome, and the counts of the import. */
function resultHeadline(result: MigrationResult): string {
  const { target, moved } = result;
  const { imported } = moved;
  const what = `${counted(moved.records, 'record')} of ${counted(moved.organisations, 'organisation')}`;
  const start = endText(result);
  if (imported === undefined) return `${start}: ${what} stored in ${target.place}`;
  const totals = Object.entries(outcomesOf(moved)).map(([name, counts]) => [name, total(counts)]);
  const isWritten = total(imported.created) + total(imported.overwritten) > 0;
  return `${start}${isWritten ? '' : ', and nothing written'}: ${what}: ${figures(Object.fromEntries(totals)).join(', ')}`;
}

/** Returns the outcomes of an import, by words for people. */
function outcomesOf({ imported }: MigrationResult['moved']): Record<string, Counts> {
  if (imported === undefined) return {};
  const { notCarried, unconfirmed = {}, ...outcomes } = imported;
  return { ...outcomes, 'not carried': notCarried, 'not confirmed': unconfirmed };
}

/** Returns the number of records that are equal on both sides. */
export function equalRecords({ proof }: MigrationResult): number {
  return Object.values(proof.sections).reduce((sum, { equal }) => sum + equal, 0);
}

const DELETES_NOTHING = 'an import deletes nothing; delete there what the source no longer has';

function proofLines(result: MigrationResult): string[] {
  const { source, target, options } = result;
  const { method, expected, unexpected, sourceUnchanged } = result.proof;
  if (method === 'checksum') return [];
  const equal = equalRecords(result);
  // The digest of no records is meaningless.
  const isSame = equal > 0 && source.digest !== undefined && source.digest === target.digest;
  const added = Object.values(result.proof.sections).reduce((sum, { onlyTarget }) => sum + onlyTarget, 0);
  const changed =
    'the source has changed since it was exported: migrate again with --on-conflict overwrite to move the changes; deleted records stay in the target';
  return [
    `${counted(equal, 'record')} equal, ${numberText(expected)} differ as expected, ${numberText(unexpected)} differ`,
    ...notComparedLines(secretNames.filter((name) => !options.secrets.includes(name))),
    // ZITADEL adds records of its own, such as domains.
    ...(added === 0 || target.kind === 'zitadel'
      ? []
      : [`${counted(added, 'record')} only in the target: ${DELETES_NOTHING}`]),
    ...(isSame ? [`both sides have the digest ${source.digest}`] : []),
    ...otherLines(result.proof),
    ...(sourceUnchanged === false ? [changed] : []),
  ];
}

/** Returns the line about organisations of the target of which nothing shows that they came from the source, if any. */
export function otherLines({ others: { count, organisations } }: MigrationResult['proof']): string[] {
  if (count === 0) return [];
  const names = organisations.slice(0, MAX_NAMED_OTHERS).map(({ orgId, name }) => named(orgId, name));
  return [
    `${counted(count, 'organisation')} only in the target, and not compared, because nothing shows that they came from the source: ${firstOf(names, count)}`,
  ];
}

const MAX_NAMED_OTHERS = 10;

function differenceList({ differences, expected, unexpected }: MigrationResult['proof']): string[] {
  return firstDifferences(differences.flatMap(resultDifferenceLines), differences.length, expected + unexpected);
}

function resultDifferenceLines(difference: MigrationResult['proof']['differences'][number]): string[] {
  const onlyIn = { different: undefined, onlySource: 'the source', onlyTarget: 'the target' }[difference.outcome];
  const { evidence } = difference;
  const texts = difference.fields.map(({ source, target, ...field }) => ({ ...field, first: source, second: target }));
  return differenceLines(evidence === undefined ? difference : { ...difference, reason: evidence }, onlyIn, texts);
}
