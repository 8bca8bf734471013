import type { Collection } from '../../store/store.ts';
import { triggerActionSection } from './actions.ts';
import { projectGrantSection, userGrantSection } from './grants.ts';
import type { Section } from './section.ts';

interface PartialReferences {
  readonly field: string;
  readonly collection: Collection;
  readonly reason: 'role_dropped' | 'action_dropped';
}

const roles = { collection: 'projectRoles', reason: 'role_dropped' } as const;

/**
 * Maps a section to its field with a list of references to other records. If some of these records do not exist, an
 * import drops the references to them, and stores the record.
 */
export const partialReferences: ReadonlyMap<Section, PartialReferences> = new Map([
  [projectGrantSection, { ...roles, field: 'projectGrant.roleKeys' }],
  [userGrantSection, { ...roles, field: 'roleKeys' }],
  [triggerActionSection, { collection: 'actions', reason: 'action_dropped', field: 'actionIds' }],
] as const);
