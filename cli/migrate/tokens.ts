import { readFile } from 'node:fs/promises';
import { isWellFormed, tokenId } from '../../shared/auth/token.ts';
import { systemCode } from '../../shared/systemCode.ts';
import type { MigrationState } from './state.ts';

/** Lists the tokens and keys that outlive a migration, by their files. Of a token, its id is said, never itself. */
export async function listTokens({ settings: { secretFiles } }: MigrationState): Promise<string[]> {
  const warnings: string[] = [];
  for (const [option, file] of Object.entries(secretFiles)) {
    const text = await readSecret(file);
    if (text === undefined) continue;
    const id = isWellFormed(text) ? ` (revoke it with identity pat revoke ${tokenId(text)})` : '';
    const kind = option.endsWith('token-file') ? 'token' : 'key';
    warnings.push(`the ${kind} in ${file} stays valid until it expires or is revoked${id}: delete the file`);
  }
  return warnings;
}

async function readSecret(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
