import type { ExportFile } from './wire.ts';

/** The organisations of an export file in one order: two files with the same content give equal values. */
export function canonicalOrganisations({ orgs }: Pick<ExportFile, 'orgs'>): unknown {
  return canonical(orgs);
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical).sort((one, other) => compare(text(one), text(other)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, part]): [string, unknown] => [name, canonical(part)])
      .sort(([one], [other]) => compare(one, other)),
  );
}

const text = (value: unknown) => JSON.stringify(value);
const compare = (one: string, other: string) => (one < other ? -1 : Number(one > other));
