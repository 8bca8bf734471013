import type { Section } from '../section.ts';
import { own, user } from '../sectionParts.ts';

/** What others have noted of users. */
export const userMetadataSection: Section = {
  name: 'userMetadata',
  collection: 'userMetadata',
  phase: 3,
  key: ['id', 'key'],
  references: [own(user('id', 'COMMAND-uXHNj'))],
  error: {
    type: 'user_metadata',
    id: ['id', 'key'],
    exists: { id: 'IMPORT-metadataExists', key: 'Errors.Metadata.AlreadyExists' },
  },
  success: { field: 'userMetadata', entry: { userId: 'id', key: 'key' } },
};
