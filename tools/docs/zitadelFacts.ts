import type { IssueRow } from '../../shared/errors/issueText.ts';
import { recordSections } from '../../shared/organisation/allSections.ts';
import { fieldFacts } from '../../shared/organisation/fieldFacts.ts';
import type { Section } from '../../shared/organisation/sections/section.ts';
import { equalButForCase, type Fact, type MissingProviders, stepRow } from '../../shared/organisation/zitadelFacts.ts';
import { code, table } from './markdown.ts';

/** Returns each manual step once, even if several sections or facts have the same step. */
export function declaredSteps(): Readonly<Record<string, IssueRow>> {
  const rows = recordSections
    .flatMap(factsWithSteps)
    .flatMap((fact) => (fact.steps ?? []).map((step) => [step.reason, stepRow(fact, step)] as const));
  return Object.fromEntries(rows);
}

function factsWithSteps(section: Section): readonly Fact[] {
  const { records = [], caseless, missingProviders } = section.zitadel ?? {};
  return [
    ...fieldFacts(section),
    ...records,
    ...(caseless === undefined ? [] : [withStep(equalButForCase)]),
    ...(missingProviders === undefined ? [] : [withStep(missingProviders)]),
  ];
}

function withStep({ text, reason, remedy }: MissingProviders): Fact {
  return { text, steps: [{ reason, remedy }] };
}

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
