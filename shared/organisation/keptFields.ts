// The fields that records keep although ZITADEL's definitions lack them. This module is separate, so that exports need
// not load the definitions.

import type { KeptField, Section } from './sections/section.ts';
import { statesOf } from './states.ts';

/** A field that ZITADEL's definitions lack. The first of `states` is the default, which records omit. */
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
