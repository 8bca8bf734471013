import type { IssueRow } from '../../shared/errors/issueText.ts';
import { recordSections } from '../../shared/organisation/allSections.ts';
import { fieldFacts } from '../../shared/organisation/fieldFacts.ts';
import type { SectionName } from '../../shared/organisation/section.ts';
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
  Partial<Pick<FieldFact, 'fields'>>;

/** Writes the table of changes that ZITADEL makes to records, from the declarations of the sections. */
export function zitadelFactsTable(): string {
  const rows = [...factsWithSections()].map(([{ fields = [], steps = [], here, ...fact }, names]) => [
    names.map(code).join(', '),
    fields.map(code).join(', '),
    fact.text,
    describeReleases(fact),
    steps.flatMap(({ remedy }) => remedy ?? []).join('; or: '),
    here === undefined ? '' : `${here.does}: ${here.why}`,
  ]);
  return table(['section', 'fields', 'what happens', 'releases', 'manual step', 'here, and why'], rows);
}

/** Returns the manual steps of ZITADEL, by reason. Contains a step once if several sections or facts share it. */
export function declaredSteps(): Readonly<Record<string, IssueRow>> {
  const rows = [...factsWithSections().keys()].flatMap((fact) =>
    (fact.steps ?? []).map((step) => [step.reason, stepRow(fact, step)] as const),
  );
  return Object.fromEntries(rows);
}

const statedFacts = new Map<MissingProviders, Fact>();

/** Returns the fact with a text and a remedy. The same declaration always gives the same fact. */
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
  const rows = recordSections.flatMap(({ name, defaults = [], filled = [] }) =>
    [
      ...defaults.map(({ path, value }) => [path, code(JSON.stringify(value)), 'imports']),
      ...filled.map(({ path, value }) => [
        path,
        typeof value === 'function' ? 'derived from other fields' : code(JSON.stringify(value)),
        'imports into ZITADEL',
      ]),
    ].map(([path = '', ...cells]) => [code(name), code(path), ...cells]),
  );
  return table(['section', 'field', 'value', 'by'], rows);
}
