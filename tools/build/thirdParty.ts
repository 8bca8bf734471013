import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../program.ts';
import type { LockFile } from './deployedPackage.ts';

/** The licences that a deployed package may have. None of them requires more than a copy of the licence's text. */
export const acceptedLicences: readonly string[] = [
  '(Apache-2.0 AND BSD-3-Clause)',
  '(MIT OR CC0-1.0)',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC-BY-3.0',
  'CC0-1.0',
  'ISC',
  'MIT',
];

const licenceFile = /^(licen[cs]e|notice|copying)([.-].*)?$/i;
const packageDirectory = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/** Returns the install paths of the packages that contain the files, such as `node_modules/a/node_modules/b`. */
export function packagePlaces(files: readonly string[]): string[] {
  return [...new Set(files.flatMap((file) => packageDirectory.exec(file)?.[0] ?? []))].sort();
}

/**
 * Returns the notice about the packages in a bundle: names, versions, and the texts of their licences.
 * @param files the source files of the bundle, relative to the repository
 * @throws Error if the licence of a package is not in `acceptedLicences`
 */
export async function thirdPartyNotice(files: readonly string[], lock: LockFile): Promise<string> {
  const packagesByText = new Map<string, string[]>();
  for (const place of packagePlaces(files)) {
    const { title, licence } = describePackage(place, lock);
    const text = (await readLicence(place)) ?? `The package has no copy of its licence, which is ${licence}.`;
    packagesByText.set(text, [...(packagesByText.get(text) ?? []), title]);
  }
  const parts = [...packagesByText].map(([text, titles]) => `${titles.join('\n')}\n\n${text.trim()}\n`);
  return ['This archive contains code of the following packages.\n', ...parts].join(`\n${'-'.repeat(80)}\n\n`);
}

function describePackage(place: string, { packages }: LockFile): { readonly title: string; readonly licence: string } {
  const locked = packages[place];
  const license = locked?.license;
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  if (typeof license !== 'string' || !acceptedLicences.includes(license))
    throw new Error(`${name} has the licence ${String(license)}, which tools/build/thirdParty.ts does not accept`);
  return { title: `${name} ${locked?.version} (${license})`, licence: license };
}

async function readLicence(place: string): Promise<string | undefined> {
  const directory = join(root, place);
  const names = (await readdir(directory)).filter((name) => licenceFile.test(name)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')));
  return texts.length === 0 ? undefined : texts.join('\n');
}
