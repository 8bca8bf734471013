// The lists of references of which imports leave out those whose targets are missing.

import type { Collection } from '../../store/store.ts';
import type { Section } from '../section.ts';
import { triggerActionSection } from './actions.ts';
import { projectGrantSection, userGrantSection } from './grants.ts';

/** A list of ids or keys of other records. */
interface PartialReferences {
  readonly field: string;
  readonly collection: Collection;
  /** The warning of a record that is imported without one of them. */
  readonly reason: 'role_dropped' | 'action_dropped';
}

const roles = { collection: 'projectRoles', reason: 'role_dropped' } as const;

/** The lists by their sections. A record is imported without the missing targets if others remain. */
export const partialReferences: ReadonlyMap<Section, PartialReferences> = new Map([
  [projectGrantSection, { ...roles, field: 'projectGrant.roleKeys' }],
  [userGrantSection, { ...roles, field: 'roleKeys' }],
  [triggerActionSection, { collection: 'actions', reason: 'action_dropped', field: 'actionIds' }],
] as const);
