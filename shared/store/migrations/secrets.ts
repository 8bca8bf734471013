import type { MigrationStep } from './migration.ts';

/*
 * Until format 3, databases held TOTP seeds and client secrets in clear. Format 4 has them encrypted, in fields of their
 * own. A step that reads both fields sees them as stored; the store encrypts what is written to the first.
 */

/** Encrypts TOTP seeds. */
export const sealTotpSeeds: MigrationStep = {
  name: '4: TOTP seeds',
  collection: 'users',
  fields: ['totpSeed', 'sealedTotpSeed'],
  dependencies: () => [],
  migrate: ({ id, totpSeed }, batch) => {
    if (totpSeed !== undefined) batch.update({ collection: 'users', id }, { totpSeed });
    return undefined;
  },
};

/** Encrypts the client secrets of identity providers. */
export const sealClientSecrets: MigrationStep = {
  name: '4: client secrets',
  collection: 'identityProviders',
  fields: ['clientSecret', 'sealedClientSecret'],
  dependencies: () => [],
  migrate: ({ id, clientSecret }, batch) => {
    if (clientSecret !== undefined) batch.update({ collection: 'identityProviders', id }, { clientSecret });
    return undefined;
  },
};
