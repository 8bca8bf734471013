/** 16 MiB: with 10,000,000 keys, fewer than one new key in 300 looks like a known one. */
const BITS = 2 ** 27;
const PROBES = 5;

/**
 * A Bloom filter of keys. It recognises every key that it has, and rarely mistakes a new one. Its memory does not depend
 * on the number of keys, which a temporary file's would: in Cloud Functions temporary files occupy memory.
 */
export class KeyFilter {
  private readonly words = new Uint32Array(BITS / 32);

  /**
   * Adds a key.
   * @param digest the key's digest, at least 20 bytes
   * @returns whether the filter may have had the key
   */
  add(digest: Buffer): boolean {
    let isKnown = true;
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = digest.readUInt32LE(probe * 4) % BITS;
      const mask = 1 << (bit % 32);
      const word = this.words[bit >>> 5] ?? 0;
      if ((word & mask) !== 0) continue;
      isKnown = false;
      this.words[bit >>> 5] = word | mask;
    }
    return isKnown;
  }
}
