import { type FileHandle, open } from 'node:fs/promises';
import { initialise } from '../../shared/accounts/initialise.ts';
import { lifetime, type Run } from '../command.ts';

/** `identity init`. */
export const init: Run = async ({ store, options, defaultName, now }) => {
  const file = options['token-file'];
  // Opened first, since a token that could not be written would be lost, and a second init is refused.
  await using handle = file === undefined ? undefined : await open(file, 'a', 0o600);
  const made = await initialise(store, options.name ?? defaultName, lifetime(options.expires), now);
  if (handle !== undefined) await writeSecret(handle, made.token);
  const where = file === undefined ? `token ${made.token}` : `token in ${file}`;
  return {
    json: made,
    text: `organisation ${made.orgId}, service user ${made.userId}, ${where}, valid until ${made.expiresAt}`,
  };
};

async function writeSecret(handle: FileHandle, text: string): Promise<void> {
  await handle.chmod(0o600);
  await handle.truncate();
  await handle.writeFile(text);
}
