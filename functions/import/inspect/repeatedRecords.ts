import { hash, randomInt } from 'node:crypto';
import { openTemporaryDatabase } from '../../../shared/collections/temporaryDatabase.ts';
import { formatPath, type JsonPath } from '../../../shared/json/jsonScanner.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { recordKey } from '../../../shared/organisation/recordPlan.ts';
import { credentialFields } from '../../../shared/store/documentFields.ts';
import { documentPath } from '../../../shared/store/store.ts';

/**
 * The records of an export file that repeat an earlier record's key with other content. A first pass over the file notes
 * all keys, and suspects those that it seems to meet again. If there are any, a second pass compares their records.
 * Suspects are kept in an unnamed temporary file, so memory is constant.
 */
export class RepeatedRecords implements Disposable {
  private filter = new KeyFilter();
  private suspects: Suspects | undefined;

  /** Notes a record's key in the first pass. Records of no organisation cannot be imported, and are ignored. */
  note(record: OrganisationRecord): void {
    if (record.orgId === '') return;
    const key = identifyingKey(record);
    if (!this.filter.add(key)) return;
    this.suspects ??= new Suspects();
    this.suspects.add(key);
  }

  /** Forgets all keys, before another first pass. */
  reset(): void {
    this[Symbol.dispose]();
    this.filter = new KeyFilter();
  }

  /** Whether a second pass must compare records. */
  get needsComparison(): boolean {
    return this.suspects !== undefined;
  }

  /**
   * Compares a record with the first one of the same key, in the second pass.
   * @returns the first record's path, and whether the contents are equal; undefined for the first record
   */
  compare(record: OrganisationRecord, path: JsonPath): Repetition | undefined {
    if (record.orgId === '') return undefined;
    return this.suspects?.compare(identifyingKey(record), contentDigest(record), formatPath(path));
  }

  /** Whether the record at `path` repeats an earlier record's key with other content. */
  has(path: JsonPath): boolean {
    return this.suspects?.differs(formatPath(path)) === true;
  }

  [Symbol.dispose](): void {
    this.suspects?.close();
    this.suspects = undefined;
  }
}

/**
 * Returns what identifies a record. A section that takes only its own organisation's records may have one under each
 * organisation: ZITADEL exports the members of all projects under all of them.
 */
function identifyingKey(record: OrganisationRecord): string {
  const isPerOrganisation = record.section.references?.some(({ ifForeign }) => ifForeign === 'notCarried') === true;
  const key = documentPath(recordKey(record));
  return isPerOrganisation ? `${key}/${record.orgId}` : key;
}

/** Returns the digest of a record's content. A state and its absence differ: overwriting keeps the stored one only then. */
function contentDigest(record: OrganisationRecord): string {
  const { section, orgId, digest, credentials, clearPassword, otpEmail, hasState } = record;
  const secrets = credentialFields.map((field) => credentials[field]);
  const content = [section.name, orgId, digest, ...secrets, clearPassword, otpEmail, hasState];
  return hash('sha256', JSON.stringify(content), 'base64url');
}

interface Repetition {
  readonly path: string;
  readonly isEqual: boolean;
}

/** The keys that may be repeated, and the paths of the records that repeat one with other content. */
class Suspects {
  private readonly database = openTemporaryDatabase(`
    CREATE TABLE suspects (key TEXT PRIMARY KEY, content TEXT, path TEXT) STRICT, WITHOUT ROWID;
    CREATE TABLE paths (path TEXT PRIMARY KEY) STRICT, WITHOUT ROWID`);
  private readonly insert;
  private readonly select;
  private readonly setFirst;
  private readonly insertPath;
  private readonly selectPath;
  private hasPaths = false;

  constructor() {
    this.insert = this.database.prepare('INSERT OR IGNORE INTO suspects (key) VALUES (?)');
    this.select = this.database.prepare('SELECT content, path FROM suspects WHERE key = ?');
    this.setFirst = this.database.prepare('UPDATE suspects SET content = ?, path = ? WHERE key = ?');
    this.insertPath = this.database.prepare('INSERT INTO paths (path) VALUES (?)');
    this.selectPath = this.database.prepare('SELECT 1 FROM paths WHERE path = ?');
  }

  add(key: string): void {
    this.insert.run(key);
  }

  compare(key: string, content: string, path: string): Repetition | undefined {
    const first = this.select.get(key);
    if (first === undefined) return undefined;
    if (typeof first.path !== 'string') {
      this.setFirst.run(content, path, key);
      return undefined;
    }
    const isEqual = first.content === content;
    if (!isEqual) this.insertPath.run(path);
    this.hasPaths ||= !isEqual;
    return { path: first.path, isEqual };
  }

  differs(path: string): boolean {
    return this.hasPaths && this.selectPath.get(path) !== undefined;
  }

  close(): void {
    this.database.close();
  }
}

/** 16 MiB: with 10,000,000 keys, fewer than one new key in 300 looks like a known one. */
const BITS = 2 ** 27;
/** Leaves as many bits of a hash as a position has. */
const SHIFT = 32 - 27;
const PROBES = 5;
/** So many keys are kept as they are. Most files have fewer, and memory for a filter costs more than their import. */
const MAX_EXACT = 10_000;

/**
 * A set of keys that becomes a Bloom filter when it grows: it recognises every key that it has, and then rarely mistakes
 * a new one. The filter's memory does not depend on the number of keys, which a temporary file's would: in Cloud
 * Functions temporary files occupy memory.
 */
export class KeyFilter {
  private readonly exact = new Set<string>();
  private words: Uint32Array | undefined;
  /** Nobody can choose keys that look alike without knowing it. */
  private readonly seed = randomInt(2 ** 32);

  /**
   * Adds a key.
   * @returns whether the filter may have had the key
   */
  add(key: string): boolean {
    if (this.words !== undefined) return addBits(this.words, key, this.seed);
    if (this.exact.has(key)) return true;
    this.exact.add(key);
    if (this.exact.size > MAX_EXACT) this.words = this.toWords();
    return false;
  }

  private toWords(): Uint32Array {
    const words = new Uint32Array(BITS / 32);
    for (const key of this.exact) addBits(words, key, this.seed);
    this.exact.clear();
    return words;
  }
}

/** Sets a key's bits; returns whether all of them were set. */
function addBits(words: Uint32Array, key: string, seed: number): boolean {
  const [first, second] = hashes(key, seed);
  let isKnown = true;
  for (let probe = 0; probe < PROBES; probe++) {
    const bit = (first + Math.imul(probe, second)) >>> SHIFT;
    const mask = 1 << (bit % 32);
    const word = words[bit >>> 5] ?? 0;
    if ((word & mask) !== 0) continue;
    isKnown = false;
    words[bit >>> 5] = word | mask;
  }
  return isKnown;
}

/** Returns two hashes of 32 bits. What they have in common only costs a comparison, so they need not be cryptographic. */
function hashes(key: string, seed: number): [first: number, second: number] {
  let first = seed;
  let second = ~seed;
  for (let at = 0; at < key.length; at++) {
    const unit = key.charCodeAt(at);
    first = Math.imul(first ^ unit, 0x85ebca6b);
    first ^= first >>> 13;
    second = Math.imul(second ^ unit, 0xc2b2ae35);
    second ^= second >>> 16;
  }
  return [Math.imul(first ^ (first >>> 16), 0x9e3779b1), Math.imul(second ^ (second >>> 15), 0x27d4eb2f) | 1];
}
