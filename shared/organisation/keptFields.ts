// The additional fields of records: ZITADEL's definitions lack these fields, but this service keeps them. They have a
// module of their own, so that exports need not load the definitions.

import type { KeptField, Section } from './sections/section.ts';
import { statesOf } from './states.ts';

/**
 * A field that ZITADEL's definitions lack. `states` contains the allowed values of `state`. The first is the default,
 * which records omit.
 */
export type AdditionalField =
  | KeptField
  | { readonly path: 'state'; readonly type: 'state'; readonly states: readonly [usual: string, other: string] };

export function keptFields(section: Section): readonly AdditionalField[] {
  const states = statesOf(section);
  return [
    ...(section.additional?.kept ?? []),
    ...(states === undefined ? [] : [{ path: 'state', type: 'state', states } as const]),
  ];
}
