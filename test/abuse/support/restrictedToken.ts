import { z } from 'zod';
import { identityJson } from '../../support/command.ts';
import type { AbusedServer } from './abusedServer.ts';

const newToken = z.looseObject({ token: z.string() });

/** Creates a token of the server's owner for one operation. */
export async function restrictedToken(
  server: AbusedServer,
  operation: 'export' | 'import' = 'import',
): Promise<string> {
  const restriction = ['--user', server.userId, '--only', operation];
  return newToken.parse(await identityJson(['pat', 'create', ...restriction, ...server.database])).token;
}
