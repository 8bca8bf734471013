// The fields that records keep although they are not in ZITADEL's definitions. Exports list them without loading these
// definitions.

import type { KeptField, Section } from './sections/section.ts';
import { statesOf } from './states.ts';

/**
 * A field that records keep: a field in the section's row, or the state. The first state is the default and is omitted.
 */
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
