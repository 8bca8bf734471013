import { words } from '../../shared/errors/nouns.ts';
import { findSection, organisationSection } from '../../shared/organisation/allSections.ts';
import { countList } from '../terminal/numberTexts.ts';

/** For this outcome, the keys of the counts are sections, or unknown fields of the file. */
const NOT_CARRIED = 'not carried';

/** Returns the line with an outcome's counts, such as `created: people 2`. */
export function outcomeLine(outcome: string, counts: Readonly<Record<string, number>>): string {
  return `${outcome}: ${countList(counts, outcome === NOT_CARRIED ? nameNotCarried : words)}`;
}

function nameNotCarried(name: string): string {
  const isSection = name === organisationSection.name || findSection(name) !== undefined;
  return isSection ? words(name) : `unknown field ${name}`;
}
