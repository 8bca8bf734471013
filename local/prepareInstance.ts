import { readFile, writeFile } from 'node:fs/promises';
import { initialise } from '../shared/accounts/initialise.ts';
import { instanceMembers } from '../shared/accounts/members.ts';
import { type NewToken, personalAccessToken } from '../shared/accounts/personalAccessToken.ts';
import { admit } from '../shared/auth/admit.ts';
import { IdentityError } from '../shared/errors/identityError.ts';
import { instanceKey } from '../shared/instance.ts';
import type { Store } from '../shared/store/store.ts';

/** What is in a local instance. */
export interface LocalContent {
  readonly name: string;
  /** Fills the database; may be run on one that is filled already, or in part. */
  readonly fill: (store: Store) => Promise<void>;
}

const TOKEN_LIFETIME_MS = 30 * 86_400_000;

/**
 * Sees to it that the instance is there and filled, and that a token of its owner is in the file. The file is written
 * last, so that where it holds no valid token the rest may be missing too.
 */
export async function prepareInstance(
  store: Store,
  { name, fill }: LocalContent,
  tokenFile: string,
  now: Date,
): Promise<void> {
  const kept = await readIfThere(tokenFile);
  if (kept !== undefined && (await isValid(store, kept, now))) return;
  const make = (await isNew(store)) ? initialise(store, name, TOKEN_LIFETIME_MS, now) : ownerToken(store, name, now);
  const { token } = await make;
  await fill(store);
  await writeFile(tokenFile, token, { mode: 0o600 });
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function isValid(store: Store, token: string, now: Date): Promise<boolean> {
  try {
    await admit(store, `Bearer ${token.trim()}`, 'iam.write', now);
    return true;
  } catch (error) {
    if (error instanceof IdentityError && (error.code === 'UNAUTHENTICATED' || error.code === 'PERMISSION_DENIED'))
      return false;
    throw error;
  }
}

/** A new token of the instance's owner, for one that has expired or whose file is gone. */
async function ownerToken(store: Store, name: string, now: Date): Promise<NewToken> {
  const [owner] = await instanceMembers(store, 'IAM_OWNER');
  if (owner === undefined) throw new RangeError(`no IAM_OWNER on ${name}: delete LOCAL_DIR to start over`);
  const { made, write } = personalAccessToken(owner, now, TOKEN_LIFETIME_MS);
  await store.commit([write]);
  return made;
}

async function isNew(store: Store): Promise<boolean> {
  const [instance] = await store.getMany([instanceKey], ['createdAt']);
  return instance === undefined;
}
