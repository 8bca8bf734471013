// The fields that records keep although ZITADEL's definitions do not have them. Exports list them without these definitions.

import type { KeptField, Section } from './section.ts';
import { statesOf } from './states.ts';

/** A field that records keep: of their section's row, or their state. The first state is the usual one, which is omitted. */
export type AdditionalField =
  | KeptField
  | { readonly path: 'state'; readonly type: 'state'; readonly states: readonly [usual: string, other: string] };

/** Lists the fields that a section's records keep. */
export function keptFields(section: Section): readonly AdditionalField[] {
  const states = statesOf(section);
  return [
    ...(section.additional?.kept ?? []),
    ...(states === undefined ? [] : [{ path: 'state', type: 'state', states } as const]),
  ];
}
