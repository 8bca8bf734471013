import { IdentityError } from '../../shared/errors/identityError.ts';
import type { Call } from '../command.ts';
import { askText, canAsk } from '../consent.ts';
import type { MigrationRun } from './run.ts';
import { type MigrationSettings, replaceSecretFiles } from './settings.ts';

/**
 * Does the work of a migration, and again with another token where a place rejects one: a person at a terminal is asked for
 * its file. Each step that is done stays done.
 */
export async function withValidTokens<Result>(
  call: Call,
  run: MigrationRun,
  work: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const { settings } = run.state;
      const option = rejectedToken(error, settings);
      if (option === undefined || !canAsk()) throw error;
      const problem = error instanceof Error ? error.message : '';
      const file = await askText(`${problem}\nThe file of --${option}:`, call);
      await run.advance('another token', {
        settings: replaceSecretFiles(settings, { options: { [option]: file } }),
      });
    }
  }
}

/** Returns the option that names the file of the token that a place has rejected; undefined for any other error. */
function rejectedToken(error: unknown, { from, to }: MigrationSettings): string | undefined {
  if (!(error instanceof IdentityError) || error.code !== 'UNAUTHENTICATED') return undefined;
  if (error.message.startsWith(from)) return 'from-token-file';
  return error.message.startsWith(to) ? 'to-token-file' : undefined;
}
