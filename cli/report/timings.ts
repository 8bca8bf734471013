import type { MigrationResult } from '../migrate/documents.ts';
import { span } from '../progress/outputs.ts';
import { rateCurve } from './charts.ts';
import { type Html, html } from './html.ts';
import { counted, moment } from './texts.ts';

/** A migration that was interrupted often has many attempts; further ones are counted only. */
const MAX_PHASES = 40;

/** Shows how long each phase took, and how its rate changed over time. */
export function timings({ phases }: MigrationResult): Html | undefined {
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
