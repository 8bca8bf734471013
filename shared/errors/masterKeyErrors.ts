import { defineError } from './identityError.ts';

// Errors of the keys that encrypt a database's secrets. No text contains any part of a key.

export const masterKeyMissing = defineError({
  code: 'UNAVAILABLE',
  id: 'IDENTITY-masterKeyMissing',
  text: 'there is no master key, and the database has encrypted secrets: set IDENTITY_MASTER_KEY, or put master.key back into the data directory',
  when: 'The database has secrets that are encrypted, or must be, and the process has no key.',
  remedy:
    'Self-hosted: put the copy of `master.key` back, or name it with `identity restore --key`. In the cloud: give the function the variable. Without the key, only a backup whose key you have can be read.',
});

export const masterKeyUnknown = defineError({
  code: 'UNAVAILABLE',
  id: 'IDENTITY-masterKeyUnknown',
  text: (id: string) =>
    `the database's secrets are encrypted with the master key ${id}, which is not among the given keys: give the key that belongs to this database`,
  example: ['5hVZr0mJ2wQx'],
  when: "The keys in `IDENTITY_MASTER_KEY` or `master.key` are another database's, or `identity rekey` has made a key current that this process does not have.",
  remedy:
    "Give the process the database's key. During a rotation it needs both keys: the new one first, then the old one.",
});

export const masterKeysChanging = defineError({
  code: 'ABORTED',
  text: (file: string) =>
    `another command changes the master keys: if none is running, one was killed, and you can delete ${file}`,
  example: ['/data/master.key.partial'],
  when: 'Two commands create or rotate the master key of an instance at once, or one was killed while it wrote the key file.',
  remedy: 'Repeat the command when the other one is done, or delete the named file.',
});

export const masterKeyInvalid = defineError({
  code: 'FAILED_PRECONDITION',
  text: (place: string) =>
    `invalid master key in ${place}: write 32 bytes as 44 characters of base64 or 64 of hex, several keys separated by commas or lines, the newest first`,
  example: ['/data/master.key'],
  when: '`IDENTITY_MASTER_KEY` or a key file contains something other than keys.',
  remedy: 'Correct it. `openssl rand -base64 32` creates a key.',
});
