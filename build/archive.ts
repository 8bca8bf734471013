import { zipSync } from 'fflate';

// The format has local times without a zone, and begins in 1980. Readable for everybody, as Unix writes it.
const entry = { mtime: new Date(1980, 0, 1), os: 3, attrs: 0o644 << 16 };

/**
 * A zip archive, the same bytes for the same files wherever it is made: in the order of names, all of one date, and
 * compressed in JavaScript, since the zlib that is in Node changes with it.
 */
export function archive(files: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const sorted = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
  return zipSync(Object.fromEntries(sorted), entry);
}
