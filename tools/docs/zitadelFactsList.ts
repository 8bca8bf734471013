import type { IssueRow } from '../../shared/errors/issueText.ts';
import { recordSections } from '../../shared/organisation/allSections.ts';
import { fieldFacts } from '../../shared/organisation/fieldFacts.ts';
import type { SectionName } from '../../shared/organisation/sections/section.ts';
import {
  equalButForCase,
  type FieldFact,
  type MissingProviders,
  type RecordFact,
  stepRow,
} from '../../shared/organisation/zitadelFacts.ts';
import { describeReleases } from '../../shared/organisation/zitadelReleases.ts';
import { code, table } from './markdown.ts';

type Fact = Pick<FieldFact | RecordFact, 'text' | 'steps' | 'here' | 'since' | 'until' | 'releasesInText' | 'ifKnown'> &
  Partial<Pick<FieldFact, 'fields'>> & { readonly does?: (FieldFact | RecordFact)['does'] };

/**
 * Writes the list of changes that ZITADEL makes to records, from the declarations of the sections. Omits what ZITADEL's
 * exports lack, because docs/migrating.md lists it.
 */
export function zitadelFactsList(): string {
  const subjectsByText = new Map<string, string[]>();
  for (const [fact, names] of factsWithSections()) {
    if (fact.does === 'exports not') continue;
    const fields = (fact.fields ?? []).map(code).join(', ');
    const subject = names.map(code).join(', ') + (fields === '' ? '' : ` (${fields})`);
    const text = describeFact(fact);
    subjectsByText.set(text, [...(subjectsByText.get(text) ?? []), subject]);
  }
  return [...subjectsByText].map(([text, subjects]) => `- ${subjects.join(', ')}: ${text}`).join('\n');
}

function describeFact({ text, steps = [], here, ...fact }: Fact): string {
  const releases = describeReleases(fact);
  return [
    releases === '' ? text : `${text} (${releases})`,
    ...(steps.length === 0 ? [] : [`Step ${steps.map(({ reason }) => code(reason)).join(', ')}`]),
    ...(here === undefined ? [] : [`Here: ${here}`]),
  ].join('. ');
}

/** Returns the manual steps of ZITADEL, by reason. Returns a step once, even if several sections or facts share it. */
export function declaredSteps(): Readonly<Record<string, IssueRow>> {
  const rows = [...factsWithSections().keys()].flatMap((fact) =>
    (fact.steps ?? []).map((step) => [step.reason, stepRow(fact, step)] as const),
  );
  return Object.fromEntries(rows);
}

const statedFacts = new Map<MissingProviders, Fact>();

/** Returns the fact of a declaration. The same declaration always gives the same fact. */
function stated(declared: MissingProviders): Fact {
  const { text, reason, remedy } = declared;
  const fact = statedFacts.get(declared) ?? { text, steps: [{ reason, remedy }] };
  statedFacts.set(declared, fact);
  return fact;
}

/** Lists the facts with the names of the sections that share them. */
function factsWithSections(): ReadonlyMap<Fact, readonly SectionName[]> {
  const found = new Map<Fact, SectionName[]>();
  for (const section of recordSections) {
    const { name, zitadel = {} } = section;
    const { records = [], missingProviders } = zitadel;
    const facts: readonly Fact[] = [
      ...fieldFacts(section),
      ...records,
      ...(zitadel.caseless === undefined ? [] : [stated(equalButForCase)]),
      ...(missingProviders === undefined ? [] : [stated(missingProviders)]),
    ];
    for (const fact of facts) found.set(fact, [...(found.get(fact) ?? []), name]);
  }
  return found;
}

/** Writes the table of the fields that imports into this service and into ZITADEL fill in. */
export function filledFieldsTable(): string {
  const rows = recordSections.flatMap(({ name, defaults = [], filled = [] }) => {
    const ofSection = [
      ...defaults.map(({ path, value }) => ({ path, value: code(JSON.stringify(value)), by: 'imports' })),
      ...filled.map(({ path, value }) => ({
        path,
        value: typeof value === 'function' ? 'derived from other fields' : code(JSON.stringify(value)),
        by: 'imports into ZITADEL',
      })),
    ];
    const byValue = Map.groupBy(ofSection, ({ value, by }) => `${value} ${by}`);
    return [...byValue.values()].flatMap((equal) =>
      equal.slice(0, 1).map(({ value, by }) => [code(name), equal.map(({ path }) => code(path)).join(', '), value, by]),
    );
  });
  return table(['section', 'fields', 'value', 'by'], rows);
}
