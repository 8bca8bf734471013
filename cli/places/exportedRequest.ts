import type { z } from 'zod';
import { exportedManifest } from '../../shared/organisation/exportFile.ts';

/** The schema of what a manifest says of the request for the file; older ones say less. */
export const exportedRequest = exportedManifest.pick({ secrets: true, ignored: true }).partial();

/** What a manifest says of the request for the file. */
export type ExportedRequest = z.infer<typeof exportedRequest>;

/** Returns what a person reads of it: a typo in a request exports less than was meant. */
export function requestLines({ secrets, ignored = [] }: ExportedRequest): readonly string[] {
  const carried = Object.entries(secrets ?? {}).flatMap(([kind, isCarried]) => (isCarried ? [kind] : []));
  const statement = `the file carries ${carried.length === 0 ? 'no secrets' : `the secrets ${carried.join(', ')}`}`;
  return [
    ...(secrets === undefined ? [] : [statement]),
    ...ignored.map(({ field, nearest }) => {
      const remedy = nearest === undefined ? '' : `: the nearest known field is ${nearest}`;
      return `ignored by the exporting instance: ${field}${remedy}`;
    }),
  ];
}
