import { type FileHandle, open } from 'node:fs/promises';
import { initialise } from '../../shared/accounts/initialise.ts';
import type { Command } from '../command.ts';
import { lifetime } from '../expires.ts';

/** `identity init`. */
export const init: Command = {
  name: 'init',
  usage: '[--name NAME] [--expires 30d] [--token-file FILE]',
  summary: 'make the default organisation, its service user with the role IAM_OWNER, and a token of it',
  options: { name: { type: 'string' }, expires: { type: 'string' }, 'token-file': { type: 'string' } },
  positionals: 0,
  async run({ store, options, defaultName, now }) {
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
  },
};

async function writeSecret(handle: FileHandle, text: string): Promise<void> {
  await handle.chmod(0o600);
  await handle.truncate();
  await handle.writeFile(text);
}
