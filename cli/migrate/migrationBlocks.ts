// Creates the blocks of plans and results. A block is a title with lines and data. It appears on the terminal, in the
// report's page and in the JSON output.

import { type RecordConflict, recordConflict } from '../../functions/import/contract.ts';
import { type Counts, total } from '../../shared/collections/counts.ts';
import { defined } from '../../shared/defined.ts';
import { isNotInSource } from '../../shared/errors/manualStepReasons.ts';
import { words } from '../../shared/errors/nouns.ts';
import { differenceLines, firstDifferences, notComparedLines } from '../comparison/differenceTexts.ts';
import { deletionLines, deletionsTitle, type MirrorDeletions } from '../exports/mirrorDeletions.ts';
import { outcomeLine } from '../exports/outcomeTexts.ts';
import { secretNames } from '../records/secretSelection.ts';
import { type Bar, type Block, listBlock, noticeBlock, withOmitted } from '../report/blocks.ts';
import { elsewhereLines, type Notice, noticeText } from '../terminal/notices.ts';
import {
  counted,
  countList,
  figures,
  firstLines,
  firstOf,
  hashLine,
  named,
  numberText,
} from '../terminal/numberTexts.ts';
import { phaseText, span } from '../terminal/progress.ts';
import { commandLine, type Line } from '../terminal/terminal.ts';
import { describeCredentials } from './credentialText.ts';
import type { ManualStep, MigrationPlan, MigrationResult } from './migrationTypes.ts';

export function isEmptyPlan({ sections }: MigrationPlan): boolean {
  return total(sections) === 0;
}

/** The facts that matter most for the user's decision come last, directly above the question for confirmation. */
export function planBlocks(plan: MigrationPlan): Block[] {
  const { source, target, checks, leftOut, organisations, leftToDo, leftToDoOmitted } = plan;
  const { sections, before, options, bytes, secrets, hashFormats, losses, changes, undone, undoneOmitted } = plan;
  const { refused, refusedOmitted, warnings, warningsOmitted, credentials } = plan;
  const ofStatus = (wanted: string) => checks.flatMap(({ status, message }) => (status === wanted ? [message] : []));
  // If the call selects secrets that the source does not have, the plan contains an entry about this. The entry appears
  // among the warnings, not among the manual steps.
  const isCaution = ({ reason }: Notice) => isNotInSource(reason);
  const byHand = leftToDo.filter((entry) => !isCaution(entry));
  const kept = conflictLines(plan);
  const [conflicts, decided] = recordConflict(options.onConflict) === 'report' ? [kept, []] : [[], kept];
  const cautions = [...ofStatus('warning'), ...decided, ...leftToDo.filter(isCaution).map(noticeText)];
  const facts = { source, target, sections, before, options, bytes, secrets, hashFormats };
  const failing = { refused, refusedOmitted };
  return [
    { title: planHeadline(plan), lines: planFacts(plan), data: facts },
    listBlock('Organisations', organisations.map(organisationLine), 'organisation', { organisations }),
    leftOutBlock(leftOut),
    { title: 'Checked', lines: ofStatus('ok'), data: { checks } },
    { title: 'Does not move', lines: losses, data: { losses } },
    { title: `Changed by ${target.place}`, lines: changes, data: { changes } },
    noticeBlock('left to do', byHand, { leftToDo, leftToDoOmitted }, leftToDoOmitted),
    peopleBlock(plan, refusedOmitted + leftToDoOmitted),
    noticeBlock('error', refused, failing, refusedOmitted, conflicts),
    noticeBlock('warning', warnings, { warnings, warningsOmitted }, warningsOmitted, cautions),
    listBlock(
      'Changes in the target that --on-conflict overwrite undoes',
      undoneLines(plan),
      'person',
      { undone, undoneOmitted },
      undoneOmitted,
    ),
    deletionBlock(plan, true),
    {
      title: 'Passwords and second factors, if all records are imported',
      lines: credentialLines(plan),
      picture: credentialBars(plan),
      data: { credentials },
    },
  ];
}

/** The terminal shows all deletions, not only a summary, because the user must type their number to confirm them. */
function deletionBlock(
  { deleted, deletions = [], deletionsOmitted = 0 }: Partial<MirrorDeletions>,
  isTrial: boolean,
): Block {
  const title = deletionsTitle(isTrial);
  if (deleted === undefined) return { title, lines: [] };
  const mirrorDeletions = { deleted, deletions, deletionsOmitted };
  return { title, lines: deletionLines(mirrorDeletions), data: { ...mirrorDeletions } };
}

function leftOutBlock(leftOut: MigrationPlan['leftOut']): Block {
  const lines = leftOut.map(({ orgId, reason }) => `${orgId}: ${reason}`);
  return { title: 'Left out', lines, data: { leftOut } };
}

/**
 * Lists all people whom errors and manual steps concern, because the operator may have to write to each of them.
 * @param unlisted the number of errors and steps that are not listed. The people whom these concern are unknown
 */
function peopleBlock({ people }: Pick<MigrationResult, 'people'>, unlisted: number): Block {
  const unknown =
    unlisted === 0 ? [] : [`the people whom ${counted(unlisted, 'further error')} or manual steps concern are unknown`];
  const listed = people.map(
    ({ id, name, address, reasons }) => `${named(id, name)}, ${address}: ${reasons.join('; ')}`,
  );
  const short = `errors and manual steps concern ${counted(people.length, 'person')}: --json and --report list all with their addresses`;
  return {
    title: 'People',
    lines: [...listed, ...unknown],
    short: [...(people.length === 0 ? [] : [short]), ...unknown],
    data: { people },
  };
}

function undoneLines({ undone }: MigrationPlan): string[] {
  return undone.map(({ id, name, orgId, changes }) => `${named(id, name)} of ${orgId} ${changes.join(', ')}`);
}

function planHeadline({ source, sections, before, organisations }: MigrationPlan): string {
  const records = total(sections);
  if (records === 0) return `Nothing to move: ${source.place} has none of the selected organisations`;
  const what = `${counted(organisations.length, 'organisation')} with ${counted(records, 'record')}`;
  return before.absent === records ? `${what} to move` : `${what}: ${standing(before)}`;
}

function standing({ absent, differentAsExpected, onlyTarget, ...inBoth }: MigrationPlan['before']): string {
  const others = { 'different as expected': differentAsExpected, 'only in the target': onlyTarget };
  return figures({ 'missing in the target': absent, ...inBoth, ...others }).join(', ');
}

function planFacts(plan: MigrationPlan): string[] {
  const { source, target, sections, secrets } = plan;
  const places = [`from ${source.place}`, `to   ${target.place}`];
  if (isEmptyPlan(plan)) return places;
  const contained = Object.keys(secrets.found).length === 0 ? '' : ` (the export contains ${countList(secrets.found)})`;
  return [
    ...places,
    `records: ${countList(sections)}`,
    `secrets: ${secrets.selected.join(', ') || 'none'}${contained}`,
    hashLine(plan.hashFormats),
  ];
}

const remedies: Readonly<Record<RecordConflict, string>> = {
  report:
    'the import leaves existing records unchanged, and reports them as errors; --on-conflict skip does not report them, --on-conflict overwrite replaces them',
  skip: 'the import leaves existing records unchanged',
  overwrite: 'the import overwrites existing records',
};

/**
 * Returns the line about existing records with other content. Returns no line if the errors of the dry run already list
 * each of these records.
 */
function conflictLines({ before: { different }, options, refused, target }: MigrationPlan): string[] {
  const onConflict = recordConflict(options.onConflict);
  // A dry run into ZITADEL lists all conflicts. The only exceptions are conflicts that disappear because a mirroring
  // import deletes records.
  const areListed = refused.length > 0 || target.kind === 'zitadel';
  if (different === 0 || (onConflict === 'report' && areListed)) return [];
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

function credentialBars({ credentials }: Pick<MigrationResult, 'credentials'>): Bar[] {
  if (credentials === undefined || credentials.people === 0) return [];
  const { people, withPassword, kept, others } = credentials;
  const bar = (name: string, count: number, tone: Bar['parts'][number]['tone']) => ({
    name,
    parts: [{ name: count === 1 ? 'person' : 'people', count, tone }],
  });
  const bars = [
    bar('need no new credential', kept, 'good'),
    ...others.map(({ reason, count }) => bar(reason, count, 'bad')),
    bar('without a password in the export', people - withPassword, 'soft'),
  ];
  return bars.filter(({ parts: [part] }) => part !== undefined && part.count > 0);
}

export function resultBlocks(result: MigrationResult): Block[] {
  const { outcome, elsewhere, command, startedAt, finishedAt, source, target, options, leftOut } = result;
  const { sourceReadAt, targetEqualAt } = result;
  const { organisations, moved, phases, proof, credentials, byHand, takeBack } = result;
  const { errors, errorsOmitted, warnings, warningsOmitted, leftToDo, leftToDoOmitted } = result;
  const sections = Object.keys({ ...moved.exported, ...proof.sections });
  const moves = organisations.map((organisation) => organisationLine({ ...organisation, before: organisation.after }));
  const differences = proof.differences.flatMap(resultDifferenceLines);
  return [
    {
      lines: [
        ...elsewhereLines(elsewhere ?? []),
        { text: resultHeadline(result), style: outcome === 'done' ? 'good' : 'bad' },
        ...standstillLines(result),
      ],
      data: {
        outcome,
        ...defined({ elsewhere, sourceReadAt, targetEqualAt }),
        command,
        startedAt,
        finishedAt,
      },
    },
    { title: 'Summary', lines: summaryLines(result), data: { source, target, options, moved, phases } },
    {
      title: 'Records by section and outcome',
      lines: sections.map((name) => sectionLine(name, result)),
      short: [],
      picture: sections.map((name) => sectionBar(name, result)),
    },
    { ...listBlock('Organisations', moves, 'organisation', { organisations }), short: [] },
    {
      title: 'Proof',
      lines: [proof.description, ...proofLines(result)],
      short: [proof.description, ...proofLines(result, MAX_NAMED_OTHERS)],
      data: { proof },
    },
    {
      title: 'Differences',
      lines: withOmitted(differences, proof.differencesOmitted),
      short: firstDifferences(differences, proof.differences.length, proof.expected + proof.unexpected),
    },
    deletionBlock(result, false),
    {
      title: 'Passwords and second factors',
      lines: credentialLines(result),
      picture: credentialBars(result),
      data: { credentials },
    },
    noticeBlock('left to do', leftToDo, { leftToDo, leftToDoOmitted }, leftToDoOmitted),
    peopleBlock(result, errorsOmitted + leftToDoOmitted),
    noticeBlock('error', errors, { errors, errorsOmitted }, errorsOmitted),
    noticeBlock('warning', warnings, { warnings, warningsOmitted }, warningsOmitted),
    { ...leftOutBlock(leftOut), short: [] },
    { title: 'By hand', lines: stepLines(byHand), data: { byHand } },
    {
      title: 'To undo the migration',
      lines: stepLines(takeBack),
      short: firstLines(takeBack, 'step').flatMap((step) => (typeof step === 'string' ? [step] : stepLines([step]))),
      data: { takeBack },
    },
  ];
}

/**
 * Returns lines about the period in which the source must not have changed. If the source is a file, the lines contain
 * the time of its export instead.
 */
function standstillLines({ source, sourceReadAt, targetEqualAt, proof }: MigrationResult): Line[] {
  if (sourceReadAt === undefined || proof.method !== 'fields') return [];
  if (targetEqualAt === undefined)
    return [
      { text: `the source was read at ${sourceReadAt}; at ${proof.provedAt}, the target differed`, style: 'bad' },
    ];
  if (source.kind === 'file' || source.kind === 'object')
    return [
      `the file was exported at ${sourceReadAt}, and lacks later changes; at ${targetEqualAt}, the target was equal`,
    ];
  const seconds = (Date.parse(targetEqualAt) - Date.parse(sourceReadAt)) / 1_000;
  return [`the source was read at ${sourceReadAt}; at ${targetEqualAt}, ${span(seconds)} later, the target was equal`];
}

function stepLines(steps: readonly ManualStep[]): Line[] {
  return steps.flatMap(({ what, command }) => (command === undefined ? [what] : [`${what}:`, commandLine(command)]));
}

function summaryLines(result: MigrationResult): string[] {
  const { source, target, phases, startedAt, finishedAt } = result;
  const imported = Object.entries(outcomesOf(result)).filter(([, counts]) => total(counts) > 0);
  const seconds = (Date.parse(finishedAt) - Date.parse(startedAt)) / 1_000;
  return [
    `from ${source.place}`,
    `to   ${target.place}`,
    ...imported.map(([outcome, counts]) => outcomeLine(outcome, counts)),
    ...phases.map((phase) => `${phase.phase}: ${phaseText(phase)}`),
    `took ${span(seconds)}`,
  ];
}

const outcomeTones: Readonly<Record<string, Bar['parts'][number]['tone']>> = {
  created: 'good',
  overwritten: 'good',
  failed: 'bad',
  'not confirmed': 'bad',
};

function sectionBar(section: string, result: MigrationResult): Bar {
  const { moved } = result;
  const stored = { name: 'stored', count: moved.exported[section] ?? 0, tone: 'good' } as const;
  const outcomes = Object.entries(outcomesOf(result)).map(([name, counts]) => ({
    name,
    count: counts[section] ?? 0,
    tone: outcomeTones[name] ?? 'soft',
  }));
  return { name: words(section), parts: moved.imported === undefined ? [stored] : outcomes };
}

function sectionLine(section: string, { moved, proof }: MigrationResult): string {
  const {
    equal = 0,
    different = 0,
    differentAsExpected = 0,
    onlySource = 0,
    onlyTarget = 0,
  } = proof.sections[section] ?? {};
  const compared = { equal, different, 'different as expected': differentAsExpected };
  const countTexts = figures({ ...compared, 'in the source only': onlySource, 'in the target only': onlyTarget });
  return [`${words(section)}: ${counted(moved.exported[section] ?? 0, 'record')}`, ...countTexts].join(', ');
}

function endText({ outcome, proof, errors, errorsOmitted }: MigrationResult): string {
  if (outcome === 'done') return 'Done';
  const failures = { difference: proof.unexpected, error: errors.length + errorsOmitted };
  const problems = Object.entries(failures).flatMap(([noun, count]) => (count === 0 ? [] : [counted(count, noun)]));
  return `Finished with ${problems.join(' and ')}`;
}

function resultHeadline(result: MigrationResult): string {
  const { target, moved } = result;
  const { imported } = moved;
  const what = `${counted(moved.records, 'record')} of ${counted(moved.organisations, 'organisation')}`;
  const start = endText(result);
  if (imported === undefined) return `${start}: ${what} stored in ${target.place}`;
  const totals = Object.entries(outcomesOf(result)).map(([name, counts]) => [name, total(counts)]);
  const isWritten = total(imported.created) + total(imported.overwritten) + total(result.deleted ?? {}) > 0;
  return `${start}${isWritten ? '' : ', and nothing written'}: ${what}: ${figures(Object.fromEntries(totals)).join(', ')}`;
}

function outcomesOf({
  moved: { imported },
  deleted = {},
}: Pick<MigrationResult, 'moved' | 'deleted'>): Record<string, Counts> {
  if (imported === undefined) return {};
  const { notCarried, unconfirmed = {}, ...outcomes } = imported;
  return { ...outcomes, deleted, 'not carried': notCarried, 'not confirmed': unconfirmed };
}

function equalRecords({ proof }: MigrationResult): number {
  return Object.values(proof.sections).reduce((sum, { equal }) => sum + equal, 0);
}

const DELETES_NOTHING =
  'an import without --mirror deletes nothing: add --mirror; or, in the target, delete the records that the source has deleted';

/** @param maxOthers the maximum number of listed organisations that only the target has */
function proofLines(result: MigrationResult, maxOthers = Number.POSITIVE_INFINITY): string[] {
  const { target, options } = result;
  const { method, expected, unexpected, sourceUnchanged } = result.proof;
  if (method === 'checksum') return [];
  const equal = equalRecords(result);
  const added = Object.values(result.proof.sections).reduce((sum, { onlyTarget }) => sum + onlyTarget, 0);
  const changed =
    options.mirror === true
      ? 'the source has changed since the export: migrate again'
      : 'the source has changed since the export: to move the changes, migrate again with --on-conflict overwrite; to delete records that the source has deleted, add --mirror';
  return [
    `${counted(equal, 'record')} equal, ${numberText(expected)} different as expected, ${numberText(unexpected)} different`,
    ...notComparedLines(secretNames.filter((name) => !options.secrets.includes(name))),
    // Records that only ZITADEL has are not reported, because ZITADEL adds records of its own to an organisation, such
    // as domains.
    ...(added === 0 || target.kind === 'zitadel'
      ? []
      : [`${counted(added, 'record')} only in the target${options.mirror === true ? '' : `: ${DELETES_NOTHING}`}`]),
    ...otherLines(result.proof, maxOthers),
    ...(sourceUnchanged === false ? [changed] : []),
  ];
}

function otherLines({ others }: MigrationResult['proof'], maxNamed: number): string[] {
  const count = others.length;
  if (count === 0) return [];
  const names = others.slice(0, maxNamed).map(({ orgId, name }) => named(orgId, name));
  return [
    `${counted(count, 'organisation')} only in the target, and not compared, because nothing shows that they came from the source: ${firstOf(names, count)}`,
  ];
}

const MAX_NAMED_OTHERS = 10;

function resultDifferenceLines(difference: MigrationResult['proof']['differences'][number]): string[] {
  const onlyIn = { different: undefined, onlySource: 'the source', onlyTarget: 'the target' }[difference.outcome];
  const { evidence } = difference;
  const texts = difference.fields.map(({ source, target, ...field }) => ({ ...field, first: source, second: target }));
  return differenceLines(evidence === undefined ? difference : { ...difference, reason: evidence }, onlyIn, texts);
}
