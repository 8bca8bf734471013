import { deleteSharedCheckpoints } from './migrations/checkpoints.ts';
import { moveLoginNames, settlePolicyScopes } from './migrations/loginNames.ts';
import { foldDomains, foldLoginNames, foldOrganisationNames } from './migrations/lookAlikes.ts';
import type { MigrationStep } from './migrations/migration.ts';
import { sealClientSecrets, sealTotpSeeds } from './migrations/secrets.ts';
import { claimApplicationNames, claimRoleKeys, claimUserLinks } from './migrations/uniqueNames.ts';

/** The steps that lead to a format from the one before it. */
interface Migration {
  readonly to: number;
  readonly steps: readonly MigrationStep[];
}

/**
 * The migrations of the documents, in order. An embedded database walks them when it is opened, in one transaction;
 * `identity upgrade` walks them in Cloud Firestore, in many commits. To add a format, add a row and increase `FORMAT`.
 */
export const migrations: readonly Migration[] = [
  { to: 2, steps: [deleteSharedCheckpoints] },
  { to: 3, steps: [settlePolicyScopes, moveLoginNames] },
  {
    to: 4,
    steps: [
      foldOrganisationNames,
      foldDomains,
      foldLoginNames,
      claimApplicationNames,
      claimRoleKeys,
      claimUserLinks,
      sealTotpSeeds,
      sealClientSecrets,
    ],
  },
];

/** Returns the steps that lead from a format to the present one. */
export function migrationSteps(from: number): readonly MigrationStep[] {
  return migrations.filter(({ to }) => to > from).flatMap(({ steps }) => steps);
}
