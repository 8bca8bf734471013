import type { MigrationResult } from '../migrate/documents.ts';
import { definitions, type Html, html, listSection, moment, words } from './texts.ts';

/** Shows how the result was proved, and what that found. */
export function proof({ proof: found, logins, source, target }: MigrationResult): readonly (Html | undefined)[] {
  const { description, provedAt, secrets, expected, unexpected, differences, sourceUnchanged } = found;
  const isExpected = ({ reason }: Difference) => reason !== undefined;
  const [odd, known] = [differences.filter((one) => !isExpected(one)), differences.filter(isExpected)];
  const formats = Object.entries(logins.formats).map(([format, count]) => `${format} ${count.toLocaleString('en')}`);
  return [
    html`<section><h2>How it was proved</h2><p>At ${moment(provedAt)}, ${description}.</p>
${definitions({
  Secrets: secrets.length === 0 ? 'not compared' : secrets.join(', '),
  Digests: source.digest !== undefined && source.digest === target.digest ? 'equal on both sides' : undefined,
  Source:
    sourceUnchanged === undefined ? undefined : sourceUnchanged ? 'as it was exported' : 'changed since its export',
})}<h3>Who can log in as before</h3>
<p>${logins.ready} of ${logins.withPassword} people with a password log in with the same one: its hash is on both sides
byte for byte, in a format that the target verifies. ${logins.people - logins.withPassword} of ${logins.people} people have
no password in the export. Sessions are not carried: each person logs in once.</p>
${formats.length === 0 ? undefined : html`<p class="soft">Hashes: ${formats.join(', ')}</p>`}</section>`,
    listSection('Differences', odd.map(differenceText), Math.max(0, unexpected - odd.length)),
    listSection('Expected differences', known.map(differenceText), Math.max(0, expected - known.length)),
  ];
}

type Difference = MigrationResult['proof']['differences'][number];

const sides = { different: '', onlySource: 'in the source only', onlyTarget: 'in the target only' } as const;

function differenceText({ outcome, section, orgId, id, fields, reason }: Difference): Html {
  const why = reason === undefined ? undefined : html` <span class="soft">(${reason})</span>`;
  const shown = fields.map(({ path, source = '(absent)', target = '(absent)', secret }) =>
    secret === undefined
      ? html`<br><code>${path}</code>: ${source} → ${target}`
      : html`<br><code>${path}</code>: a secret, ${secret}`,
  );
  return html`${words(section)} <code>${id}</code> of <code>${orgId}</code> ${sides[outcome]}${why}${shown}`;
}
