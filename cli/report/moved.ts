import { total } from '../../shared/collections/counts.ts';
import type { MigrationResult } from '../migrate/documents.ts';
import { type BarCounts, bar } from './charts.ts';
import { counted, type Html, html, words } from './texts.ts';

/** More organisations than this are counted only. */
const MAX_ORGANISATIONS = 50;

/** A row of bars. */
interface Row {
  readonly name: Html;
  readonly records: number;
  readonly counts: BarCounts;
}

/** Shows what moved: by section, by what the import did, and by organisation. */
export function moved(result: MigrationResult): Html {
  const { moved: figures } = result;
  return html`<section><h2>What moved</h2>
<p>${counted(figures.records, 'record')} of ${counted(figures.organisations, 'organisation')}.
<span class="key good"></span>equal on both sides <span class="key odd"></span>different
<span class="key lost"></span>in the source only</p>
${bars(sectionRows(result))}</section>${imported(figures.imported)}${organisations(result)}`;
}

function sectionRows({ moved: { exported }, proof }: MigrationResult): readonly Row[] {
  const names = [...new Set([...Object.keys(exported), ...Object.keys(proof.sections)])];
  return names
    .map((section): Row => {
      const records = exported[section] ?? 0;
      const compared = proof.sections[section];
      const counts =
        compared === undefined
          ? { equal: records, different: 0, absent: 0 }
          : { equal: compared.equal, different: compared.different, absent: compared.onlySource };
      return { name: html`${words(section)}`, records, counts };
    })
    .toSorted((a, b) => b.records - a.records);
}

function bars(rows: readonly Row[]): Html {
  const largest = Math.max(0, ...rows.map(({ records }) => records));
  return html`<ul class="bars">${rows.map(
    ({ name, records, counts }) =>
      html`<li>${name}: ${counted(records, 'record')}${describe(counts, records)}${bar(counts, largest)}</li>\n`,
  )}</ul>`;
}

function describe({ equal, different, absent }: BarCounts, records: number): Html {
  const parts = [
    ...(equal === records ? [] : [html`${equal} equal`]),
    ...(different === 0 ? [] : [html`${different} different`]),
    ...(absent === 0 ? [] : [html`${absent} in the source only`]),
  ];
  return html`${parts.map((part) => html`, ${part}`)}`;
}

function imported(outcomes: MigrationResult['moved']['imported']): Html | undefined {
  if (outcomes === undefined) return undefined;
  const names = { created: 'created', unchanged: 'unchanged', overwritten: 'overwritten', skipped: 'skipped' } as const;
  const all = { ...names, failed: 'failed', notCarried: 'not carried' } as const;
  const items = Object.entries(outcomes).flatMap(([outcome, counts]) => {
    const sections = Object.entries(counts).map(([section, count]) => html`${words(section)} ${count}`);
    const name = Object.entries(all).find(([key]) => key === outcome)?.[1] ?? outcome;
    if (sections.length === 0) return [];
    return [
      html`<li>${total(counts)} ${name}: ${sections.map((one, index) => html`${index === 0 ? '' : ', '}${one}`)}</li>\n`,
    ];
  });
  return html`<section><h2>What the target did</h2><ul>${items}</ul></section>`;
}

/** Shows the organisations with differences, then the largest ones. */
function organisations({ organisations: all, organisationsOmitted, proof }: MigrationResult): Html | undefined {
  if (all.length === 0) return undefined;
  const differing = ({ after }: (typeof all)[number]) => after.different + after.absent;
  const sorted = all.toSorted((a, b) => differing(b) - differing(a) || b.records - a.records);
  const shown = sorted.slice(0, MAX_ORGANISATIONS);
  const rows = shown.map(({ orgId, name, people, records, after }): Row => {
    const counts = proof.method === 'checksum' ? { equal: records, different: 0, absent: 0 } : after;
    return { name: html`${name} <span class="soft">${orgId}</span>, ${people} people`, records, counts };
  });
  const omitted = all.length - shown.length + organisationsOmitted;
  const rest = omitted === 0 ? undefined : html`<p class="soft">and ${omitted} more</p>`;
  return html`<section><h2>Organisations (${all.length + organisationsOmitted})</h2>${bars(rows)}${rest}</section>`;
}
