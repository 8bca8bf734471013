// Lists of references that an import may shorten, because some targets are missing.

import type { Collection } from '../../store/store.ts';
import { triggerActionSection } from './actions.ts';
import { projectGrantSection, userGrantSection } from './grants.ts';
import type { Section } from './section.ts';

/** A field with a list of references: ids or keys of other records. */
interface PartialReferences {
  readonly field: string;
  readonly collection: Collection;
  /** The warning about a record that the import stores without some targets. */
  readonly reason: 'role_dropped' | 'action_dropped';
}

const roles = { collection: 'projectRoles', reason: 'role_dropped' } as const;

/** The lists, by section. An import stores a record without its missing targets if other targets remain. */
export const partialReferences: ReadonlyMap<Section, PartialReferences> = new Map([
  [projectGrantSection, { ...roles, field: 'projectGrant.roleKeys' }],
  [userGrantSection, { ...roles, field: 'roleKeys' }],
  [triggerActionSection, { collection: 'actions', reason: 'action_dropped', field: 'actionIds' }],
] as const);
