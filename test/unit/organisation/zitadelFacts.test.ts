import { describe, expect, it } from 'vitest';
import { anyZitadel } from '../../../cli/records/importFacts.ts';
import { isNeverExported, zitadelReason } from '../../../cli/zitadel/expectedDifferences.ts';
import { templateText } from '../../../shared/errors/issueText.ts';
import { LeftToDo } from '../../../shared/exportFile/leftToDo.ts';
import { leftToDoRules } from '../../../shared/exportFile/leftToDoRules.ts';
import { recordSections } from '../../../shared/organisation/allSections.ts';
import { fieldFacts } from '../../../shared/organisation/fieldFacts.ts';
import { keptFields } from '../../../shared/organisation/keptFields.ts';
import type { Section } from '../../../shared/organisation/sections/section.ts';
import { type FieldFact, ORGANISATION_FIELD, stepRow } from '../../../shared/organisation/zitadelFacts.ts';
import {
  allReleases,
  contains,
  describeReleases,
  haveStates,
  overlap,
  releasesWithoutStates,
  releasesWithStates,
} from '../../../shared/organisation/zitadelReleases.ts';
import { zitadelReleases } from '../../../shared/organisation/zitadelReleaseTable.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';
import { fieldPlaces } from '../../support/strings/fieldPlaces.ts';

const zitadel = {
  side: 'second',
  releases: allReleases,
  domains: ['id.example.com'],
  imports: { target: anyZitadel, mayLackProvider: () => true },
} as const;

interface Use {
  readonly section: Section;
  readonly fact: FieldFact;
  readonly path: string;
  readonly title: string;
}

const uses = recordSections.flatMap((section): Use[] =>
  fieldFacts(section).flatMap((fact) =>
    fact.fields.map((path) => ({ section, fact, path, title: `${section.name} ${path}: ${fact.text}` })),
  ),
);

function reasonOf({ section, path }: Pick<Use, 'section' | 'path'>): string | undefined {
  const record = { section: section.name, orgId: 'acme', id: '1' };
  return zitadelReason({ ...record, outcome: 'different', fields: [{ path, first: 'value' }] }, zitadel);
}

/** Whether a section's records have a field: by their definition, or by the section's additional fields. */
function hasField(section: Section, path: string): boolean {
  const own = keptFields(section).some((field) => field.path === path);
  const defined = fieldPlaces.some(({ section: name, steps }) => {
    const names = steps.filter((step) => step !== 0).join('.');
    return name === section.name && (names === path || names.startsWith(`${path}.`));
  });
  return own || defined || (section.name === 'org' && path === 'orgState');
}

describe('a fact about what ZITADEL does to a field', () => {
  it.each(uses.filter(({ path }) => !['state', 'orgState', ORGANISATION_FIELD].includes(path)))(
    'is about a field of the section: $title',
    ({ section, path }) => expect(hasField(section, path)).toBe(true),
  );

  it.each(
    uses.filter(({ fact: { does, explains, steps = [] } }) => {
      return does !== 'refuses' && explains === undefined && !steps.some(({ byHand }) => byHand);
    }),
  )('explains that ZITADEL lacks the field: $title', (use) => expect(reasonOf(use)).toBe(use.fact.text));

  it.each(uses.filter(({ fact: { steps = [] } }) => steps.some(({ byHand }) => byHand)))(
    'explains nothing if this command takes the step: $title',
    (use) => expect(reasonOf(use)).not.toBe(use.fact.text),
  );
});

const allFacts = recordSections.flatMap((section) =>
  [...fieldFacts(section), ...(section.zitadel?.records ?? [])].map((fact) => ({
    fact,
    title: `${section.name}: ${fact.text}`,
  })),
);

describe('every fact', () => {
  it.each(allFacts)('applies to a release: $title', ({ fact }) => {
    const applies = zitadelReleases.filter(({ name }) => contains(fact, { since: name, until: name }));
    expect(applies).not.toEqual([]);
  });

  it.each(
    allFacts.flatMap(({ fact, title }) =>
      (fact.steps ?? []).map((step) => ({ fact, step, title: `${title}: ${step.reason}` })),
    ),
  )('has a value for each parameter of its steps: $title', ({ fact, step }) => {
    const named = [...templateText(stepRow(fact, step), 'http').matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const person = { id: '1', passwordHash: '$P$984478476IagS59wHZvyQMArzfx58u.' };
    const given = Object.keys(step.params?.(person, allReleases) ?? {});
    expect(given.toSorted()).toEqual([...new Set(named)].toSorted());
  });
});

describe('the manual steps of facts', () => {
  it.each(recordSections.map((section) => ({ ...section, fields: fieldFacts(section) })))(
    'are rules of the section $name',
    ({ name, fields, zitadel: { records = [] } = {} }) => {
      for (const fact of [...fields, ...records].filter((one) => !('dependsOnFile' in one)))
        for (const { because = fact.text, remedy = '' } of fact.steps ?? []) {
          const isOfStep = (message: string) => message.includes(because) && message.endsWith(remedy);
          const rules = leftToDoRules.filter(({ row }) => isOfStep(templateText(row, 'http')));
          expect(rules.flatMap(({ sections }) => sections)).toContain(name);
        }
    },
  );

  const [stateless, logoutUri, refusedHash, unverifiedHash] = [
    'up to release 3, ',
    'from July 2026 on, ',
    'from June 2026 on imports',
    'verifies this password hash only if',
  ] as const;

  it.each([
    [undefined, [stateless, logoutUri, refusedHash]],
    [releasesWithStates, [logoutUri, refusedHash]],
    [releasesWithoutStates, [stateless, unverifiedHash]],
  ])('are those of the releases that the target may be of: %j', (releases, expected) => {
    const content = { withPasswords: true, withOtp: true, withKeys: true, forZitadel: true };
    const list = new LeftToDo(releases === undefined ? content : { ...content, releases }, 'http');
    const app = { appId: 'A', app: { backChannelLogoutUri: 'https://app.example' } };
    const person = { userId: 'U', user: { email: { isEmailVerified: true } } };
    list.addRecord(sectionNamed('oidcApps'), { id: 'a', orgId: 'O', body: JSON.stringify(app) });
    list.addRecord(sectionNamed('humanUsers'), {
      id: 'u',
      orgId: 'O',
      body: JSON.stringify(person),
      state: 'USER_STATE_LOCKED',
      passwordHash: '$P$984478476IagS59wHZvyQMArzfx58u.',
    });
    const messages = list.entries.map(({ message }) => message).join('\n');
    const shown = [stateless, logoutUri, refusedHash, unverifiedHash].filter((text) => messages.includes(text));
    expect(shown).toEqual(expected);
  });
});

describe('a record that no export of ZITADEL has', () => {
  it.each([
    ['inviteUserMessages', 'acme_en', true],
    ['triggerActions', '2_4', true],
    ['triggerActions', '1_1', false],
    ['triggerActions', 'FLOW_TYPE_EXTERNAL_AUTHENTICATION_1', false],
    ['initMessages', 'acme_en', false],
  ])('is known by its section and id: %s %s', (section, id, expected) => {
    expect(isNeverExported({ section, id }, allReleases)).toBe(expected);
  });
});

describe('ranges of releases', () => {
  it('overlap and contain each other in the order of the releases', () => {
    expect([allReleases, releasesWithStates, releasesWithoutStates].map(haveStates)).toEqual([false, true, false]);
    expect(overlap({ since: 'June 2026' }, releasesWithStates)).toBe(true);
    expect(overlap({ since: 'June 2026' }, releasesWithoutStates)).toBe(false);
    expect(overlap({ until: '3' }, allReleases)).toBe(true);
    expect(overlap({ until: '3' }, releasesWithStates)).toBe(false);
    expect(overlap({ since: '4' }, { until: '4' })).toBe(true);
    expect(overlap({ until: '4' }, { since: '4' })).toBe(true);
    expect(contains({ until: '3' }, allReleases)).toBe(false);
    expect(contains({ until: '3' }, releasesWithoutStates)).toBe(true);
    expect(contains({}, releasesWithStates)).toBe(true);
  });

  it('are described as texts name them', () => {
    expect(describeReleases({})).toBe('');
    expect(describeReleases({ since: 'July 2026' })).toBe('from July 2026 on');
    expect(describeReleases({ since: '4', until: 'June 2026' })).toBe('from release 4 to June 2026');
    expect(describeReleases({ until: '3' })).toBe('up to release 3');
  });
});
