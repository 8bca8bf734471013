import { type FileHandle, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { initialise } from '../../shared/accounts/initialise.ts';
import { OWNER_ONLY, syncDirectory } from '../../shared/durableFiles.ts';
import type { Run } from '../command.ts';
import { lifetime } from '../configuration.ts';

/** Runs `identity init`. */
export const init: Run = async (invocation) => {
  const { store, options, defaultName, now } = invocation;
  const lifetimeMs = lifetime(invocation);
  const file = options['token-file'];
  // The file is opened first: a token that cannot be written is lost, and init does not run twice.
  await using handle = file === undefined ? undefined : await openDurable(file);
  const created = await initialise(store, options.name ?? defaultName, lifetimeMs, now);
  if (handle !== undefined) await writeSecret(handle, created.token);
  const shownToken = file === undefined ? `token ${created.token}` : `token in ${file}`;
  return {
    json: created,
    text: `organisation ${created.orgId}, service user ${created.userId}, ${shownToken}, valid until ${created.expiresAt}`,
  };
};

async function openDurable(file: string): Promise<FileHandle> {
  const handle = await open(file, 'a', OWNER_ONLY);
  syncDirectory(dirname(resolve(file)));
  return handle;
}

async function writeSecret(handle: FileHandle, text: string): Promise<void> {
  await handle.chmod(OWNER_ONLY);
  await handle.truncate();
  await handle.writeFile(text);
  await handle.sync();
}
