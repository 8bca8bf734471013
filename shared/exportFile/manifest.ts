import { hash } from 'node:crypto';
import { z } from 'zod';
import type { SplitLimits } from '../json/splitter.ts';
import { fixedLimits } from '../limits.ts';
import { sections } from '../organisation/allSections.ts';
import { type AdditionalField, keptFields } from '../organisation/keptFields.ts';
import { type Credentials, isList, type Section } from '../organisation/sections/section.ts';
import { nothingStated, type StatedContent } from '../organisation/statedContent.ts';
import { nothingUnknown, type UnknownContent } from '../organisation/unknownContent.ts';
import { MAX_DOCUMENT_BYTES } from '../store/store.ts';
import { leftToDoEntry } from './leftToDo.ts';

/**
 * The limits for each record, and for the manifest. Both are limited because a reader keeps a whole record or the whole
 * manifest in memory.
 */
export const exportFileLimits: SplitLimits = { valueBytes: MAX_DOCUMENT_BYTES, fields: fixedLimits.fields };
export const MAX_MANIFEST_BYTES = exportFileLimits.valueBytes;

/** The maximum number of characters in an instance's id. The ids of this service are UUIDs, which are shorter. */
const MAX_INSTANCE_ID = 200;

const INSTANCE_ID = 'The exporting instance’s id, the same at all its addresses; absent in a file for ZITADEL.';

const carriedSecrets = z.object({
  passwords: z.boolean().describe('Password hashes, and client secrets of identity providers.'),
  otp: z.boolean().describe('TOTP seeds and OTP e-mail factors.'),
  keys: z.boolean().describe('Machine and application keys.'),
});

/**
 * The schema of the manifest, which an export file contains after the organisations. An import rejects a file whose
 * records do not match the manifest.
 */
export const manifestSchema = z.object({
  version: z.literal(1),
  instance: z.string(),
  readTime: z.string(),
  counts: z.record(z.string(), z.int().nonnegative()),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, 'expected `sha256:` and 64 hexadecimal digits'),
  instanceId: z
    .string()
    .max(MAX_INSTANCE_ID)
    .optional()
    // Do not reject a file with an invalid value, because another program must have written the value.
    .catch(undefined)
    .describe(INSTANCE_ID),
  defaultOrgId: z
    .string()
    .exactOptional()
    .describe('The exporting instance’s default organisation, even if the file does not contain it.'),
  userLoginMustBeDomain: z
    .boolean()
    .exactOptional()
    .describe(
      'True if, for organisations without their own domain policy, login names contain the domain of the organisation; otherwise absent.',
    ),
  exportedBy: z
    .object({ userId: z.string(), orgId: z.string() })
    .exactOptional()
    .describe('The caller of the export, and the caller’s organisation; absent in an export without a token.'),
  secrets: carriedSecrets
    .optional()
    // Do not reject a file with an invalid value, because another program must have written the value.
    .catch(undefined)
    .describe(
      'The selected secrets. If a record lacks a selected secret, the source has no such secret. If this field is absent, it is unknown whether the source has the secret.',
    ),
  sections: z
    .array(z.string())
    .optional()
    // Do not reject a file with an invalid value, because another program must have written the value.
    .catch(undefined)
    .describe(
      'The sections that the export read completely: the source has no other records of these sections in the organisations of the file. If this field is absent, the source may have other records.',
    ),
  usersLeftOut: z
    .array(z.string())
    .exactOptional()
    .describe(
      'Users whose grants and memberships the file omits, even in the sections that the export read completely.',
    ),
});

export type Manifest = z.infer<typeof manifestSchema>;

const ignoredField = z.strictObject({
  field: z.string().describe('The field’s name, shortened if it is long.'),
  nearest: z.string().exactOptional().describe('The known field with the most similar name.'),
});

/**
 * Returns, for each kind of value, whether the absence of a value from the file proves that the source lacks the value.
 * If the manifest does not list the selected secrets, the absence proves nothing, and the result is false for every
 * kind.
 */
export function statedContent(manifest: Pick<Manifest, 'secrets'> | undefined): StatedContent {
  if (manifest?.secrets === undefined) return nothingStated;
  const { passwords, otp } = manifest.secrets;
  // A file omits the state of a record only if the state is the default, because an export contains every other state.
  return { withPasswords: passwords, withOtp: otp, otpEmail: otp, states: true };
}

export type IgnoredField = z.infer<typeof ignoredField>;

/** The schema of the manifest that an export writes. An import requires fewer fields. */
export const exportedManifest = manifestSchema.extend({
  instanceId: z.string().optional().describe(INSTANCE_ID),
  secrets: carriedSecrets.describe('The secrets that the request selected: the file contains no others.'),
  sections: z
    .array(z.string())
    .describe(
      'The sections that the export read completely: the source has no other records of these sections in the organisations of the file.',
    ),
  ignored: z
    .array(ignoredField)
    .describe('The first fields of the request that the service does not know, and therefore ignored.'),
  leftToDo: z.array(leftToDoEntry).describe('The manual steps after an import of the file.'),
  leftToDoOmitted: z.int().positive().optional().describe('The number of further entries of `leftToDo`.'),
});

export type ExportedManifest = z.infer<typeof exportedManifest>;

/** The content of a record that a manifest counts and hashes. */
export interface ManifestEntry {
  readonly section: Pick<Section, 'name'>;
  readonly orgId: string;
  /** The digest of the record's canonical JSON, which contains no credentials. */
  readonly digest: string;
  readonly credentials: Credentials;
  /**
   * True if the file states that the person has the OTP e-mail factor; undefined if the file states nothing about it.
   */
  readonly otpEmail: boolean | undefined;
  /**
   * Content that is not in ZITADEL's definition of the record. An export never contains such content. So if a file
   * contains such content, a user has changed the file after the export.
   */
  readonly unknown?: UnknownContent;
}

/** The number of 16-bit words in a hash. */
const HASH_WORDS = 16;

/**
 * A running tally of records: the number of records by section, and the sum of the records' hashes modulo 2^256. The
 * sum reveals every lost, added or changed record, and does not depend on the order of the records. The tally needs
 * constant memory.
 */
export class ManifestTally {
  private readonly sums = new Float64Array(HASH_WORDS);
  private readonly counted = new Map<string, number>();

  add({ section, orgId, digest, credentials, otpEmail = false, unknown = nothingUnknown }: ManifestEntry): void {
    const { passwordHash = '', totpSeed = '', clientSecret = '' } = credentials;
    const entry: unknown[] = [section.name, orgId, digest, passwordHash, totpSeed, clientSecret, otpEmail];
    if (unknown.fields.length > 0 || unknown.values.length > 0) entry.push(unknown);
    // With `binary`, each character of the string is one byte. A bigint or a buffer would be slower.
    const bytes = hash('sha256', JSON.stringify(entry), 'binary');
    for (let word = 0; word < HASH_WORDS; word++)
      this.sums[word] = (this.sums[word] ?? 0) + bytes.charCodeAt(2 * word) * 256 + bytes.charCodeAt(2 * word + 1);
    this.count(section.name);
  }

  /**
   * Adds 1 to the number of organisations. Call `add` to count the organisation's own record, which belongs to the
   * section `org`.
   */
  addOrganisation(): void {
    this.count('orgs');
  }

  get counts(): Record<string, number> {
    return Object.fromEntries(this.counted);
  }

  get digest(): string {
    return formatDigest(this.sum);
  }

  /**
   * Returns the digest of the records that were not added to this tally.
   * @param digest the digest of the added records and the other records together
   */
  restOf(digest: string): string {
    return formatDigest(BigInt(`0x${digest.slice(DIGEST.length)}`) - this.sum);
  }

  private get sum(): bigint {
    return this.sums.reduce((total, word) => (total << 16n) + BigInt(word), 0n);
  }

  private count(name: string): void {
    this.counted.set(name, (this.counted.get(name) ?? 0) + 1);
  }
}

const DIGEST = 'sha256:';

function formatDigest(sum: bigint): string {
  return `${DIGEST}${BigInt.asUintN(HASH_WORDS * 16, sum)
    .toString(16)
    .padStart(64, '0')}`;
}

const recordForm = 'each in the form of ZITADEL’s message `zitadel.admin.v1.DataOrg`';

/**
 * Returns a schema that accepts everything that `schema` accepts, and an absent field. For imports, it accepts `null`
 * too.
 */
type MayBeAbsent = (schema: z.ZodType) => z.ZodType;

function organisationShape(absent: MayBeAbsent): Record<string, z.ZodType> {
  const shape = {
    org: z.looseObject({ name: z.string().optional() }),
    orgState: z.string(),
    ...Object.fromEntries(sections.map((section) => [section.name, recordsSchema(section, absent)])),
  };
  return Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, absent(schema)]));
}

/**
 * Returns the schema of a section's records. It describes only the inner object, and the fields that ZITADEL's
 * definition lacks.
 */
function recordsSchema(section: Section, absent: MayBeAbsent): z.ZodType {
  const { inner } = section;
  const kept = keptFields(section).map((field) => ({
    names: field.path.split('.'),
    schema: keptSchema(field),
  }));
  const record = messageSchema(kept, inner, absent);
  return isList(section) ? z.array(record) : record;
}

function messageSchema(
  fields: readonly { readonly names: readonly string[]; readonly schema: z.ZodType }[],
  required: string | undefined,
  absent: MayBeAbsent,
): z.ZodType {
  const byName = Map.groupBy(fields, ({ names: [name = ''] }) => name);
  const described = [...byName].map(([name, group]) => {
    const direct = group.find(({ names }) => names.length === 1);
    const inside = group.map(({ names, schema }) => ({ names: names.slice(1), schema }));
    const schema = direct?.schema ?? messageSchema(inside, undefined, absent);
    return [name, name === required ? schema : absent(schema)] as const;
  });
  return z.looseObject({
    ...(required === undefined ? {} : { [required]: z.looseObject({}) }),
    ...Object.fromEntries(described),
  });
}

function keptSchema(field: AdditionalField): z.ZodType {
  if (field.type === 'boolean' || field.type === 'factor') return z.boolean();
  return field.type === 'state' ? z.enum(field.states) : z.string().max(field.maxBytes);
}

export const exportFile = z
  .strictObject({
    orgs: z.array(
      z
        .strictObject({
          ...organisationShape((schema) => schema.optional()),
          orgId: z.string(),
          importedFrom: z
            .string()
            .optional()
            .describe(
              'With `orgs_only`, for an imported organisation: the id of the instance that exported it, if known.',
            ),
        })
        .meta({ id: 'Organisation', description: `An organisation with its records, ${recordForm}.` }),
    ),
    manifest: exportedManifest,
  })
  .meta({ id: 'ExportFile' });

/**
 * The schema of an export file as an import accepts it. The import also accepts names in snake_case, ignores unknown
 * fields, and treats `null` as absent. Only descriptions of the API use this schema, because an import streams the
 * file.
 */
export const importedFile = z
  .object({
    orgs: z
      .array(
        z
          .object({ ...organisationShape((schema) => schema.nullish()), orgId: z.string() })
          .meta({ id: 'GivenOrganisation', description: `An organisation with its records, ${recordForm}.` }),
      )
      .nullish(),
    manifest: manifestSchema.nullish().describe('The manifest, against which an import verifies the file.'),
  })
  .meta({
    id: 'GivenFile',
    description: 'An export file that this service or ZITADEL (v1 or v2) has written.',
    anyOf: [{ required: ['orgs'], properties: { orgs: {} } }, { maxProperties: 0 }],
  });
