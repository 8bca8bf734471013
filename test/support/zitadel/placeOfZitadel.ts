import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { testDirectory } from '../places/servedPlace.ts';
import { elements } from './contents.ts';
import { importAll } from './importing.ts';
import type { ImportRun } from './importRows.ts';
import { startZitadel, type ZitadelStandIn } from './standIn.ts';

/** Returns a stand-in with content that exports show at once, and the file with its owner's token. */
export async function filledZitadel(
  orgs: readonly object[],
  given: Parameters<typeof startZitadel>[0] = {},
): Promise<{ zitadel: ZitadelStandIn; tokenFile: string }> {
  const zitadel = await startZitadel({ lagMs: 0, ...given });
  const run: ImportRun = {
    contents: zitadel.contents,
    contextOrgId: '',
    host: 'localhost',
    // Only release 4 imports all states.
    release: '4.0',
    loginNamesByDomain: zitadel.behaviour.loginNamesByDomain,
    write: () => {},
  };
  expect(importAll(run, elements(orgs)).errors).toEqual([]);
  return { zitadel, tokenFile: await tokenFileWith('owner-token') };
}

/** Writes a token to a separate file. */
export async function tokenFileWith(token: string): Promise<string> {
  const path = join(await testDirectory(), 'token.pat');
  await writeFile(path, token, { mode: 0o600 });
  return path;
}
