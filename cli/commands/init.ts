import { type FileHandle, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { defineInstanceCommand, optional } from '../command.ts';

export const init = defineInstanceCommand({
  name: 'init',
  summary: 'create the default organisation, an IAM_OWNER service user and its token',
  instance: 'created',
  isAudited: true,
  arguments: [],
  options: {
    name: optional('NAME', 'name of the instance and its organisation; by default that of the directory or database'),
    expires: optional('DURATION', 'lifetime of the token; by default 30d'),
    'token-file': optional('FILE', 'write the token to a file instead of printing it'),
  },
  examples: ['init --data ./north --token-file owner.pat', 'init --firestore my-project/north --name north'],
  run: async ({ store, options, defaultName, environment, now }) => {
    const { tokenLifetime } = await import('../configuration.ts');
    const { initialise } = await import('../../shared/accounts/initialise.ts');
    const lifetimeMs = tokenLifetime(options.expires, { environment });
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
  },
});

async function openDurable(file: string): Promise<FileHandle> {
  const { OWNER_ONLY, syncDirectory } = await import('../../shared/durableFiles.ts');
  const handle = await open(file, 'a', OWNER_ONLY);
  syncDirectory(dirname(resolve(file)));
  return handle;
}

async function writeSecret(handle: FileHandle, text: string): Promise<void> {
  const { OWNER_ONLY } = await import('../../shared/durableFiles.ts');
  await handle.chmod(OWNER_ONLY);
  await handle.truncate();
  await handle.writeFile(text);
  await handle.sync();
}
