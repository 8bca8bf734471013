import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OWNER_ONLY, syncDirectory } from '../../durableFiles.ts';
import { masterKeyInvalid, masterKeyMissing, masterKeysChanging, masterKeyUnknown } from '../../errors/storeErrors.ts';
import { systemCode } from '../../systemCode.ts';
import { generateMasterKey, type MasterKey, parseMasterKeys } from './masterKey.ts';

interface KeySource {
  read(): readonly MasterKey[];
  /** Changes the stored keys. Absent if the process cannot do this, for example because the keys are in a variable. */
  change?(change: (keys: readonly MasterKey[]) => readonly MasterKey[]): void;
  readonly file?: string;
}

/**
 * The master keys of a process. The keyring keeps every key that it has read, because snapshots may contain values that
 * were encrypted with an earlier key. If a key is unknown, the keyring reads its source again, because `identity rekey`
 * adds a key while servers run.
 */
export class Keyring {
  private readonly source: KeySource;
  private readonly keysById = new Map<string, MasterKey>();

  constructor(source: KeySource) {
    this.source = source;
  }

  /** True if there is no key, as in a deployed function that does not access secrets. */
  get isEmpty(): boolean {
    return this.keys().length === 0;
  }

  get isWritable(): boolean {
    return this.source.change !== undefined;
  }

  /** Reads all keys, newest first. */
  keys(): readonly MasterKey[] {
    const keys = this.source.read();
    for (const key of keys) this.keysById.set(key.id, key);
    return keys;
  }

  /** @throws IdentityError UNAVAILABLE if the key is unknown */
  require(id: string): MasterKey {
    const knownKey = this.keysById.get(id);
    if (knownKey !== undefined) return knownKey;
    if (this.isEmpty) throw masterKeyMissing();
    const added = this.keysById.get(id);
    if (added === undefined) throw masterKeyUnknown({ id });
    return added;
  }

  /**
   * Returns the newest key. If there is no key, creates the first key.
   * @throws IdentityError UNAVAILABLE if there is no key, and the keyring cannot store keys
   */
  newest(): MasterKey {
    const [newest] = this.keys();
    if (newest !== undefined) return newest;
    if (!this.isWritable) throw masterKeyMissing();
    return this.add();
  }

  add(): MasterKey {
    const key = generateMasterKey();
    this.change((keys) => [key, ...keys]);
    return key;
  }

  /** The path of the key file; undefined if the keys come from a text. */
  get file(): string | undefined {
    return this.source.file;
  }

  /**
   * Keeps only the keys with these ids in the key file. Moves every other key to a file of its own, because a user who
   * restores an earlier backup needs this key. The keyring in memory still contains all keys.
   */
  retain(ids: readonly string[]): void {
    if (this.keys().some(({ id }) => !ids.includes(id)))
      this.change((keys) => keys.filter(({ id }) => ids.includes(id)));
  }

  private change(change: (keys: readonly MasterKey[]) => readonly MasterKey[]): void {
    if (this.source.change === undefined) throw new Error('the keys of this keyring cannot be changed');
    this.source.change(change);
    this.keys();
  }
}

/** Creates a keyring from a key file. The key file may be missing. */
export function fileKeyring(file: string): Keyring {
  return new Keyring({ read: () => readKeyFile(file), change: (change) => changeKeyFile(file, change), file });
}

/**
 * Creates a keyring from a text. The keyring never reads the text's source again.
 * @param source the name of the variable or file that contains the text, for the error
 * @throws IdentityError if the text contains no valid keys
 */
export function givenKeyring(text: string, source = 'IDENTITY_MASTER_KEY'): Keyring {
  const keys = parseMasterKeys(text);
  if (keys === undefined) throw masterKeyInvalid({ place: source });
  return new Keyring({ read: () => keys });
}

export function temporaryKeyring(): Keyring {
  const keys = [generateMasterKey()];
  return new Keyring({ read: () => keys });
}

export function emptyKeyring(): Keyring {
  return new Keyring({ read: () => [] });
}

const COMMENT = `# This key encrypts the secrets of the database in this directory. Whoever loses it loses these secrets.
# Keep a copy of it, apart from the backups of the database.
`;
const EARLIER_COMMENT = `# The database had this key before identity rekey. Restoring an earlier backup needs it.
`;

export function keyFilePath(directory: string): string {
  return join(directory, 'master.key');
}

export function earlierKeyPath(file: string, id: string): string {
  return `${file}.${id}`;
}

/**
 * @returns an empty list if the file does not exist
 * @throws IdentityError if the file contains no valid keys; Error if the file system refuses to read the file
 */
function readKeyFile(file: string): readonly MasterKey[] {
  const text = readKeyText(file);
  if (text === undefined) return [];
  const keys = parseMasterKeys(text);
  if (keys === undefined) throw masterKeyInvalid({ place: file });
  return keys;
}

function readKeyText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Replaces the keys in a key file durably and atomically. Only its owner can read the file. First stores each removed
 * key in a file of its own. The incomplete new file also serves as a lock against other processes.
 * @param change returns the new keys
 * @throws IdentityError ABORTED if another process is changing the file
 */
export function changeKeyFile(file: string, change: (keys: readonly MasterKey[]) => readonly MasterKey[]): void {
  replaceFile(file, () => {
    const before = readKeyFile(file);
    const keys = change(before);
    const ids = new Set(keys.map(({ id }) => id));
    for (const key of before.filter(({ id }) => !ids.has(id)))
      replaceFile(earlierKeyPath(file, key.id), () => `${EARLIER_COMMENT}${key.text}\n`);
    return `${COMMENT}${keys.map(({ text }) => `${text}\n`).join('')}`;
  });
}

function replaceFile(file: string, content: () => string): void {
  const partial = `${file}.partial`;
  const descriptor = createFile(partial);
  try {
    writeFileSync(descriptor, content());
    fsyncSync(descriptor);
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  syncDirectory(dirname(file));
}

function createFile(file: string): number {
  try {
    return openSync(file, 'wx', OWNER_ONLY);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') throw masterKeysChanging({ file });
    throw error;
  }
}
