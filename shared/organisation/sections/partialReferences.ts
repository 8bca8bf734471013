// The lists of references from which imports leave out missing targets.

import type { Collection } from '../../store/store.ts';
import { triggerActionSection } from './actions.ts';
import { projectGrantSection, userGrantSection } from './grants.ts';
import type { Section } from './section.ts';

/** A list of ids or keys of other records. */
interface PartialReferences {
  readonly field: string;
  readonly collection: Collection;
  /** The warning about a record that is imported without some targets. */
  readonly reason: 'role_dropped' | 'action_dropped';
}

const roles = { collection: 'projectRoles', reason: 'role_dropped' } as const;

/** The lists, by section. A record is imported without its missing targets if other targets remain. */
export const partialReferences: ReadonlyMap<Section, PartialReferences> = new Map([
  [projectGrantSection, { ...roles, field: 'projectGrant.roleKeys' }],
  [userGrantSection, { ...roles, field: 'roleKeys' }],
  [triggerActionSection, { collection: 'actions', reason: 'action_dropped', field: 'actionIds' }],
] as const);
