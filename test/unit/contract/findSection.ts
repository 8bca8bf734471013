import type { Section } from '../../../shared/contract/section.ts';
import { sections } from '../../../shared/contract/sections.ts';

/** The row of the section table with this name. */
export function findSection(name: string): Section {
  const section = sections.find((row) => row.name === name);
  if (section === undefined) throw new Error(`there is no section ${name}`);
  return section;
}
