import { z } from 'zod';
import { hostedJson } from '../processes/hostedCommand.ts';
import type { Instance } from './deployments.ts';

/** A token that the `identity` command created. */
export interface MadeToken {
  readonly tokenId: string;
  readonly token: string;
}

const made = z.strictObject({ tokenId: z.string(), token: z.string(), expiresAt: z.iso.datetime() });
const user = z.strictObject({ userId: z.string() });

/** The reason why a test that needs the command is skipped. */
export const noDatabase = 'ACCEPTANCE_TARGET_DATABASE is not set';

/** Creates a token of a user. */
export async function newToken(database: readonly string[], userId: string): Promise<MadeToken> {
  return made.parse(await hostedJson(['pat', 'create', '--user', userId, ...database]));
}

/** Creates a service user without a role, and a token for the user. */
export async function newServiceUser(
  database: readonly string[],
  name: string,
): Promise<MadeToken & { userId: string }> {
  const { userId } = user.parse(await hostedJson(['service-user', 'create', name, ...database]));
  return { userId, ...(await newToken(database, userId)) };
}

/** Returns the options for an instance's database. Skips the test if there are none. */
export function databaseOf({ database }: Instance, { skip }: { skip: (note?: string) => never }): readonly string[] {
  return database ?? skip(noDatabase);
}
