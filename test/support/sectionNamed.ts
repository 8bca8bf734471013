import type { Section } from '../../shared/organisation/section.ts';
import { findSection } from '../../shared/organisation/sections.ts';

/** The section of a name that a test chose. */
export function sectionNamed(name: string): Section {
  const section = findSection(name);
  if (section === undefined) throw new Error(`no section ${name}`);
  return section;
}
