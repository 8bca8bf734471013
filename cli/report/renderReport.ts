import type { MigrationResult } from '../migrate/documents.ts';
import { span } from '../progress.ts';
import { rateCurve } from './charts.ts';
import { moved } from './moved.ts';
import { overview } from './overview.ts';
import { proof } from './proof.ts';
import { style } from './style.ts';
import { counted, type Html, html, listSection, moment } from './texts.ts';

/** More entries of a list than this are counted only. */
const MAX_LISTED = 100;

/**
 * Renders the report of a migration: one page that needs no script and no network. Its size is bounded, whatever moved.
 */
export function renderReport(result: MigrationResult): string {
  const { errors, errorsOmitted, warnings, warningsOmitted, leftToDo, leftToDoOmitted, leftOut } = result;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Migration of ${result.source.place} to ${result.target.place}</title>
<style>${style}</style></head><body>
${overview(result)}
${entries('Errors', errors, errorsOmitted)}
${entries('Left to do', leftToDo, leftToDoOmitted)}
${moved(result)}
${proof(result)}
${timings(result)}
${entries('Warnings', warnings, warningsOmitted)}
${listSection('Left out', leftOut.slice(0, MAX_LISTED).map(leftOutText), Math.max(0, leftOut.length - MAX_LISTED))}
<footer><p class="soft">Equal records have equal digests. This report holds no secret.</p></footer>
</body></html>
`.toString();
}

type Entry = MigrationResult['errors'][number];

function entries(title: string, given: readonly Entry[], omitted: number): Html | undefined {
  const shown = given.slice(0, MAX_LISTED).map(({ type, id, message }) => {
    const record = id === undefined ? undefined : html` <code>${id}</code>`;
    return html`${type}${record}: ${message}`;
  });
  return listSection(title, shown, given.length - shown.length + omitted);
}

function leftOutText({ orgId, reason }: MigrationResult['leftOut'][number]): Html {
  return html`<code>${orgId}</code>: ${reason}`;
}

/** A migration that was interrupted often has many attempts; further ones are counted only. */
const MAX_PHASES = 40;

/** Shows how long each phase took, and how its rate changed over time. */
function timings({ phases }: MigrationResult): Html | undefined {
  if (phases.length === 0) return undefined;
  const shown = phases.slice(-MAX_PHASES);
  const omitted = phases.length - shown.length;
  const rest = omitted === 0 ? undefined : html`<p class="soft">${omitted} earlier attempts are not shown</p>`;
  return html`<section><h2>Timings</h2>${rest}${shown.map(phaseFigure)}</section>`;
}

function phaseFigure({ phase, startedAt, seconds, records, perSecond, succeeded, samples }: Phase): Html {
  const outcome = succeeded ? '' : ', interrupted';
  return html`<figure class="rate"><figcaption><strong>${phase}</strong>: ${counted(records, 'record')} in ${span(seconds)},
${Math.round(perSecond)}/s${outcome} <span class="soft">from ${moment(startedAt)}</span></figcaption>
${rateCurve(samples)}</figure>\n`;
}

type Phase = MigrationResult['phases'][number];
