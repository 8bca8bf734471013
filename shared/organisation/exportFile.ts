import { hash } from 'node:crypto';
import { z } from 'zod';
import { type Credentials, isList, type Section } from './section.ts';
import { sections } from './sections.ts';

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

const form = 'each in the form of ZITADEL’s message `zitadel.admin.v1.DataOrg`';
const records = Object.fromEntries(sections.map((section) => [section.name, recordsSchema(section)]));
const plain = {
  org: z.looseObject({ name: z.string().optional() }),
  orgState: z.string(),
};

/** An export file as it is written: organisations, then what the export says of itself. */
export const exportFile = z
  .strictObject({
    orgs: z.array(
      z
        .strictObject({ ...optional({ ...plain, ...records }), orgId: z.string() })
        .meta({ id: 'Organisation', description: `An organisation with its records, ${form}.` }),
    ),
    manifest: manifestSchema,
  })
  .meta({ id: 'ExportFile' });

/**
 * An export file as an import takes it: by both spellings, with unknown fields, which are passed over, and `null` for what
 * is not there. For descriptions only: such a file is never held whole.
 */
export const importedFile = z
  .object({
    orgs: z
      .array(
        z
          .object({ ...nullish({ ...plain, ...records }), orgId: z.string() })
          .meta({ id: 'GivenOrganisation', description: `An organisation with its records, ${form}.` }),
      )
      .nullish(),
    manifest: manifestSchema.nullish().describe('What the file is compared with, where it has one.'),
  })
  .meta({
    id: 'GivenFile',
    description: 'An export file, of this service or of ZITADEL, v1 or v2.',
    anyOf: [{ required: ['orgs'] }, { maxProperties: 0 }],
  });

function recordsSchema(section: Section): z.ZodType {
  const { inner } = section;
  const record = z.looseObject(inner === undefined ? {} : { [inner]: z.looseObject({}) });
  return isList(section) ? z.array(record) : record;
}

function optional(shape: Record<string, z.ZodType>): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(shape).map(([name, contract]) => [name, contract.optional()]));
}

function nullish(shape: Record<string, z.ZodType>): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(shape).map(([name, contract]) => [name, contract.nullish()]));
}
