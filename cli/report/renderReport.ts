import { total } from '../../shared/collections/counts.ts';
import { secretNames } from '../../shared/exportFile/secretSelection.ts';
import { describeCredentials } from '../migrate/credentialText.ts';
import type { MigrationResult, MigrationSide } from '../migrate/migrationDocuments.ts';
import { endText, equalRecords, otherLines } from '../migrate/migrationText.ts';
import { groupNotices, groupText, type Notice, noticeText } from '../notices.ts';
import { recordNoun, words } from '../nouns.ts';
import { counted, figures, named, numberText } from '../numberTexts.ts';
import { phaseText, span } from '../progress.ts';
import { definitions, type Html, html, listSection, moment } from './html.ts';
import { style } from './style.ts';

/**
 * Renders the report of a migration: one page without scripts and external resources. Its lists are cut, except that of
 * people.
 */
export function renderReport(result: MigrationResult): string {
  const { errors, errorsOmitted, warnings, warningsOmitted, leftToDo, leftToDoOmitted, leftOut } = result;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Migration of ${result.source.place} to ${result.target.place}</title>
<style>${style}</style></head><body>
${renderOverview(result)}
${listSection('Errors', errors, (error) => html`${noticeText(error)}`, errorsOmitted)}
${noticeList('Left to do', leftToDo, leftToDoOmitted)}
${peopleList(result)}
${renderDifferences(result)}
${renderPlaces(result)}
${renderMoved(result)}
${renderProof(result)}
${renderTimings(result)}
${noticeList('Warnings', warnings, warningsOmitted)}
${listSection('Left out', leftOut, ({ orgId, reason }) => html`<code>${orgId}</code>: ${reason}`)}
<footer><p class="soft">Equal records have equal digests. This report contains no secrets.</p></footer>
</body></html>
`.toString();
}

/** Lists notices, with one item per message. */
function noticeList(title: string, notices: readonly Notice[], omitted: number): Html | undefined {
  const groups = groupNotices(notices, omitted);
  const item = (group: (typeof groups)[number]) => html`${groupText(group)}`;
  return listSection(title, groups, item, omitted, ({ count }) => count);
}

/** Lists all people whom errors and manual steps are about, because each of them may need a letter. */
function peopleList({ people }: MigrationResult): Html | undefined {
  if (people.length === 0) return undefined;
  const items = people.map(
    ({ id, name, address, reasons }) =>
      html`<li><code>${id}</code> ${name}, ${address}: <span class="soft">${reasons.join('; ')}</span></li>\n`,
  );
  return html`<section><h2>People whom errors and steps by hand are about (${people.length})</h2><ul>${items}</ul></section>`;
}

/** Shows the outcome, the people, their credentials and the times. */
function renderOverview(result: MigrationResult): Html {
  const {
    command,
    startedAt,
    finishedAt,
    moved: { organisations, exported },
  } = result;
  const seconds = (Date.parse(finishedAt) - Date.parse(startedAt)) / 1_000;
  const people = counted(exported.humanUsers ?? 0, 'person');
  const misplaced = (result.elsewhere ?? []).map(
    (notice) => html`<p class="verdict failed">${noticeText(notice)}</p>\n`,
  );
  return html`<header><h1>Migration of ${people} in ${counted(organisations, 'organisation')}</h1>
${misplaced}<p class="verdict ${result.outcome}">${verdictText(result)}</p>${credentialsOf(result)}
<p class="soft">${moment(startedAt)} to ${moment(finishedAt)}, ${span(seconds)}; identity ${command}</p></header>`;
}

/** Shows both sides, and the options. */
function renderPlaces({ source, target, resumedAt, options, leftOut }: MigrationResult): Html {
  const { orgIds, secrets, onConflict, newOrgsOnly } = options;
  const last = resumedAt.at(-1);
  return html`<section><h2>From and to</h2><div class="sides">${renderSide('From', source)}${renderSide('To', target)}</div>
${definitions({
  Organisations: orgIds.length === 0 ? 'all' : `${orgIds.length} selected`,
  'Left out': leftOut.length || undefined,
  Secrets: secrets.join(', ') || 'none',
  Conflicts: onConflict,
  'New only': newOrgsOnly ? 'yes' : undefined,
  Resumed: last === undefined ? undefined : `${counted(resumedAt.length, 'time')}, last at ${moment(last)}`,
})}</section>`;
}

function verdictText(result: MigrationResult): string {
  const { outcome, proof, moved } = result;
  if (outcome === 'done' && proof.method === 'checksum')
    return `Done: all ${numberText(moved.records)} records are stored, as the checksum proves.`;
  const where = outcome === 'done' ? ' on both sides' : '';
  const expected = proof.expected === 0 ? '' : `, ${numberText(proof.expected)} differ as expected`;
  return `${endText(result)}: ${numberText(equalRecords(result))} records are equal${where}${expected}.`;
}

/** The names of kinds of places. */
const kindNames: Readonly<Record<string, string>> = {
  instance: 'an instance of this service',
  zitadel: 'a ZITADEL instance',
  database: 'a database, without a server',
  file: 'a file',
  object: 'an object in a bucket',
};

function renderSide(title: string, shown: MigrationSide): Html {
  const { place, kind, version, instance, digest, readAt, bytes, generation, crc32c } = shown;
  return html`<div class="side"><h3>${title} ${place}</h3>${definitions({
    Kind: kindNames[kind] ?? kind,
    Version: version,
    Instance: instance,
    Digest: digest === undefined ? undefined : html`<code>${digest}</code>`,
    Read: readAt === undefined ? undefined : moment(readAt),
    Bytes: bytes,
    Generation: generation,
    CRC32C: crc32c,
  })}</div>`;
}

/** The counts of a section's or organisation's records, by the comparison with the target. */
type Compared = Omit<MigrationResult['organisations'][number]['after'], 'onlyTarget'>;

/** Returns the counts of records that a checksum verified. */
function allEqual(records: number): Compared {
  return { equal: records, different: 0, differentAsExpected: 0, absent: 0 };
}

/** Shows the selected records by section, by outcome and by organisation. */
function renderMoved(result: MigrationResult): Html {
  const { records, organisations, exported, imported } = result.moved;
  const { sections } = result.proof;
  const names = [...new Set([...Object.keys(exported), ...Object.keys(sections)])];
  const rows = names.map((section) => {
    const all = exported[section] ?? 0;
    const found = sections[section];
    const counts = found === undefined ? allEqual(all) : { ...found, absent: found.onlySource };
    return { all, line: comparedItem(html`${words(section)}`, all, counts) };
  });
  return html`<section><h2>Selected records</h2>
<p>${counted(records, 'record')} of ${counted(organisations, 'organisation')}.</p>
<ul>${rows.toSorted((a, b) => b.all - a.all).map(({ line }) => line)}</ul></section>${importedOf(imported)}${organisationList(result)}`;
}

function comparedItem(name: Html, records: number, counts: Compared): Html {
  const { equal, different, differentAsExpected, absent } = counts;
  const expected = { 'different as expected': differentAsExpected };
  const parts = figures({ equal: equal === records ? 0 : equal, different, ...expected, 'in the source only': absent });
  return html`<li>${name}: ${[counted(records, 'record'), ...parts].join(', ')}</li>\n`;
}

function importedOf(outcomes: MigrationResult['moved']['imported']): Html | undefined {
  if (outcomes === undefined) return undefined;
  const items = Object.entries(outcomes).map(([outcome, counts = {}]) => {
    const sections = Object.entries(counts).map(([section, count]) => `${words(section)} ${numberText(count)}`);
    return sections.length === 0
      ? undefined
      : html`<li>${total(counts)} ${words(outcome)}: ${sections.join(', ')}</li>\n`;
  });
  return html`<section><h2>Outcomes in the target</h2><ul>${items}</ul></section>`;
}

/** The number of organisations that are shown; further ones are counted. */
const MAX_SHOWN_ORGANISATIONS = 50;

/** Shows the organisations with differences, then the largest ones. */
function organisationList({ organisations: all, organisationsOmitted, proof }: MigrationResult): Html | undefined {
  if (all.length === 0) return undefined;
  const differing = ({ after }: (typeof all)[number]) => after.different + after.absent;
  const sorted = all.toSorted((a, b) => differing(b) - differing(a) || b.records - a.records);
  const items = sorted.slice(0, MAX_SHOWN_ORGANISATIONS).map(({ orgId, name, people, records, after }) => {
    const counts = proof.method === 'checksum' ? allEqual(records) : after;
    return comparedItem(
      html`${name} <span class="soft">${orgId}</span>, ${counted(people, 'person')}`,
      records,
      counts,
    );
  });
  const omitted = all.length - items.length + organisationsOmitted;
  const rest = omitted === 0 ? undefined : html`<p class="soft">and ${omitted} more</p>`;
  return html`<section><h2>Organisations (${all.length + organisationsOmitted})</h2><ul>${items}</ul>${rest}</section>`;
}

/** Shows the unexpected differences. The expected ones follow the proof. */
function renderDifferences({ proof: { differences: all, unexpected } }: MigrationResult): Html | undefined {
  const odd = all.filter(({ reason }) => reason === undefined);
  return listSection('Differences', odd, differenceItem, unexpected - odd.length);
}

/** Shows the method of the proof, and the expected differences. */
function renderProof({
  proof: found,
  options: { secrets },
  source,
  target,
}: MigrationResult): readonly (Html | undefined)[] {
  const { description, provedAt, expected, sourceUnchanged } = found;
  const known = found.differences.filter(({ reason }) => reason !== undefined);
  return [
    html`<section><h2>Proof</h2><p>At ${moment(provedAt)}, ${description}.</p>
${definitions({
  'Not compared': secretNames.filter((name) => !secrets.includes(name)).join(', ') || undefined,
  Digests: source.digest !== undefined && source.digest === target.digest ? 'equal on both sides' : undefined,
  Source:
    sourceUnchanged === undefined ? undefined : sourceUnchanged ? 'as it was exported' : 'changed since its export',
  Others: otherLines(found).at(0),
})}</section>`,
    listSection('Expected differences', known, differenceItem, expected - known.length),
  ];
}

/** Shows how many people have equal credentials in the target, and the reasons for the others. */
function credentialsOf({ credentials, target }: MigrationResult): Html | undefined {
  if (credentials === undefined || credentials.people === 0) return undefined;
  const { sentence, reasons } = describeCredentials(credentials, target.kind);
  const list = reasons.length === 0 ? undefined : html`<ul>${reasons.map((reason) => html`<li>${reason}</li>\n`)}</ul>`;
  return html`<p>${sentence}. Sessions are not carried.</p>
${list}`;
}

const onlyInTexts = { different: '', onlySource: 'in the source only', onlyTarget: 'in the target only' } as const;

function differenceItem({
  outcome,
  section,
  orgId,
  orgName,
  id,
  name,
  fields,
  reason,
  evidence,
}: MigrationResult['proof']['differences'][number]): Html {
  const explained = reason ?? evidence;
  const why = explained === undefined ? undefined : html` <span class="soft">(${explained})</span>`;
  const shown = fields.map(({ path, source = '(absent)', target = '(absent)', secret }) =>
    secret === undefined
      ? html`<br><code>${path}</code>: ${source} → ${target}`
      : html`<br><code>${path}</code>: a secret, ${secret}`,
  );
  return html`${recordNoun(section)} <code>${named(id, name)}</code> of <code>${named(orgId, orgName)}</code> ${onlyInTexts[outcome]}${why}${shown}`;
}

/** The number of attempts that are shown; earlier ones are counted. */
const MAX_SHOWN_PHASES = 40;

/** Shows the duration and the rate of each phase. */
function renderTimings({ phases }: MigrationResult): Html | undefined {
  if (phases.length === 0) return undefined;
  const shown = phases.slice(-MAX_SHOWN_PHASES);
  const omitted = phases.length - shown.length;
  const rest = omitted === 0 ? undefined : html`<p class="soft">${omitted} earlier attempts are not shown</p>`;
  const items = shown.map((phase) => {
    const outcome = phase.succeeded ? '' : ', interrupted';
    return html`<li><strong>${phase.phase}</strong>: ${phaseText(phase)}${outcome} <span class="soft">from
${moment(phase.startedAt)}</span></li>\n`;
  });
  return html`<section><h2>Timings</h2>${rest}<ul>${items}</ul></section>`;
}
