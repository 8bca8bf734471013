import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { closables } from '../../../cli/zitadel/import/closable.ts';
import { recordKinds } from '../../../cli/zitadel/recordKinds.ts';
import { recordSection, sections } from '../../../shared/organisation/allSections.ts';
import { fieldFacts } from '../../../shared/organisation/fieldFacts.ts';
import { keptFields } from '../../../shared/organisation/keptFields.ts';
import type { Section } from '../../../shared/organisation/sections/section.ts';
import { activated } from '../../../shared/organisation/sections/sectionStates.ts';
import { statesOf } from '../../../shared/organisation/states.ts';

type Kinds = typeof recordKinds;

const { actions, ...others } = recordKinds;
const { search: _, ...unsearched } = actions.closing;

// Each of these does not compile.
const incomplete: readonly Kinds[] = [
  // @ts-expect-error a section without its kind
  others,
  // @ts-expect-error a kind without the event that creates its records
  { ...others, actions: { ids: actions.ids, closing: actions.closing } },
  // @ts-expect-error a kind without its ids
  { ...others, actions: { created: actions.created, closing: actions.closing } },
  // @ts-expect-error records with states and without the calls that close them
  { ...others, actions: { created: actions.created, ids: actions.ids } },
  // @ts-expect-error records with states and without the search that finds closed ones
  { ...others, actions: { ...actions, closing: unsearched } },
];

/** Sections of which no code but their own needs to know. */
const ordinary = ['actions', 'triggerActions', 'appKeys', 'jwtIdps', 'lockoutPolicy'];

/** Returns the files that CONTRIBUTING lists for a new section. */
function listedPlaces(): string[] {
  const [, chapter = ''] = readFileSync('CONTRIBUTING.md', 'utf8')
    .split(/^### /m)
    .filter((text) => text.startsWith('… a section'))
    .join('')
    .split('\n1. ');
  return [...chapter.matchAll(/`((?:shared|cli)\/[\w/.]+)`/g)].flatMap(([, path]) => path ?? []);
}

function sourceFiles(): string[] {
  return ['cli', 'functions', 'local', 'shared'].flatMap((directory) =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${directory}/${name}`),
  );
}

describe('a new section', () => {
  it.each(ordinary)('is named in the files that CONTRIBUTING lists, such as %s', (name) => {
    const naming = new RegExp(`['"\`.]${name}\\b|\\b${name}:`);
    const places = listedPlaces();
    const files = sourceFiles().filter((path) => naming.test(readFileSync(path, 'utf8')));
    expect(files.length).toBeGreaterThan(1);
    expect(files.filter((path) => !places.some((place) => path.startsWith(place)))).toEqual([]);
  });

  it('does not compile without what the command knows of its records in ZITADEL', () => {
    expect(incomplete.map((kinds) => JSON.stringify(kinds))).not.toContain(JSON.stringify(recordKinds));
  });

  it('keeps its states, and the fact about them, whatever else its row has', () => {
    const row: Section = { ...recordSection('actions'), additional: { kept: [] }, zitadel: { fields: [] } };
    expect(keptFields(row)).toEqual([
      { path: 'state', type: 'state', states: ['ACTION_STATE_ACTIVE', 'ACTION_STATE_INACTIVE'] },
    ]);
    expect(fieldFacts(row)).toEqual([activated]);
  });

  it('is closed by ZITADEL if its records have states: users first, then those to which others belong last', () => {
    expect(closables.map((kind) => kind.sections)).toEqual([
      ['humanUsers', 'machineUsers'],
      ['userGrants'],
      ['projectGrants'],
      ['actions'],
      ['apiApps', 'oidcApps'],
      ['projects'],
      ['org'],
    ]);
    const closed = closables.flatMap((kind) => kind.sections);
    const withStates = sections.filter((section) => statesOf(section) !== undefined).map(({ name }) => name);
    expect(withStates.filter((name) => !closed.includes(name))).toEqual([]);
    for (const name of closed) expect(recordSection(name).zitadelStep).not.toBe('dropped');
  });
});
