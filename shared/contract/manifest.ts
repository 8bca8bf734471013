import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Credentials } from './section.ts';

/** What an export says of itself, after its organisations: an import refuses a file that does not match it. */
export const manifestSchema = z.object({
  version: z.literal(1),
  instance: z.string(),
  readTime: z.string(),
  counts: z.record(z.string(), z.int().nonnegative()),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
});

/** The manifest of an export. */
export type Manifest = z.infer<typeof manifestSchema>;

/** What of a record goes into a manifest. */
export interface ManifestEntry {
  readonly section: string;
  readonly orgId: string;
  /** Digest of the record's canonical JSON without credentials. */
  readonly digest: string;
  /** The credentials that travel with it. */
  readonly credentials: Credentials;
  readonly otpEmail: boolean;
}

const MODULUS = 1n << 256n;

/**
 * Counts records and adds up their hashes modulo 2^256, so that neither the order of organisations nor that of lists
 * matters, nothing is held, and every lost, added or changed record shows.
 */
export class ManifestTally {
  private sum = 0n;
  private readonly counted = new Map<string, number>();

  add({ section, orgId, digest, credentials, otpEmail }: ManifestEntry): void {
    const { passwordHash = '', totpSeed = '', clientSecret = '' } = credentials;
    const entry = JSON.stringify([section, orgId, digest, passwordHash, totpSeed, clientSecret, otpEmail]);
    this.sum += BigInt(`0x${hash('sha256', entry)}`);
    this.count(section);
  }

  /** Counts an organisation, whose own record is counted under its section. */
  addOrganisation(): void {
    this.count('orgs');
  }

  get counts(): Record<string, number> {
    return Object.fromEntries(this.counted);
  }

  get digest(): string {
    return `sha256:${(this.sum % MODULUS).toString(16).padStart(64, '0')}`;
  }

  private count(name: string): void {
    this.counted.set(name, (this.counted.get(name) ?? 0) + 1);
  }
}
