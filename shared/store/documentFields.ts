/**
 * The fields of a stored document. SQLite derives its columns from this table, Firestore its typed values.
 * A record is one string of canonical JSON (`body`); the other fields hold the values that the service itself reads.
 */
export const documentFieldTypes = {
  /** The key that a scan selects by: `<section>/<organisation id>` for a record. */
  partition: 'string',
  /** The organisation that the record belongs to. */
  orgId: 'string',
  /** Canonical JSON of the record, without credentials. */
  body: 'string',
  /** SHA-256 of `body` in base64url. */
  digest: 'string',
  passwordHash: 'string',
  /** Databases keep secrets encrypted, in the fields that `sealedForms` names. */
  totpSeed: 'string',
  clientSecret: 'string',
  sealedTotpSeed: 'string',
  sealedClientSecret: 'string',
  /** The user's or organisation's state, by its name in ZITADEL's enums. */
  state: 'string',
  /** Whether the user has the OTP e-mail factor. */
  otpEmail: 'boolean',
  /** The number of changes to the record; creating it counts as the first. */
  sequence: 'integer',
  /** ISO 8601, UTC. */
  createdAt: 'string',
  changedAt: 'string',
  expiresAt: 'string',
  /** The path of a claim's record, or the id of a token's user. */
  ownerId: 'string',
} as const;

type FieldTypes = { string: string; boolean: boolean; integer: number };

/** The name of a document's field. */
export type FieldName = keyof typeof documentFieldTypes;

/** The fields of a document; any may be absent. */
export type DocumentFields = { readonly [Name in FieldName]?: FieldTypes[(typeof documentFieldTypes)[Name]] };

/** The names of all fields that a database has, in the table's order. */
export const storedFieldNames = Object.keys(documentFieldTypes) as readonly FieldName[];

/** The secrets that can be recovered, and the fields that hold them encrypted. */
export const sealedForms = { totpSeed: 'sealedTotpSeed', clientSecret: 'sealedClientSecret' } as const;

const sealedNames: ReadonlySet<string> = new Set(Object.values(sealedForms));

/** The names of the fields that operations use: secrets in clear, not their encrypted forms. */
export const fieldNames = storedFieldNames.filter((name) => !sealedNames.has(name));

type NamesWithType<Type> = {
  [Name in FieldName]: (typeof documentFieldTypes)[Name] extends Type ? Name : never;
}[FieldName];

/** A document under construction, while its fields are read from the database. */
export type MutableDocument = { id: string } & { -readonly [Name in FieldName]?: DocumentFields[Name] };

/**
 * Sets a field that was read from the database.
 * @throws Error when the value does not have the type in `documentFieldTypes`: another program wrote it
 */
export function setField(document: MutableDocument, name: FieldName, value: unknown): void {
  if (isText(name) && typeof value === 'string') document[name] = value;
  else if (isCount(name) && typeof value === 'number') document[name] = value;
  else if (isFlag(name) && typeof value === 'boolean') document[name] = value;
  else throw new Error(`the stored field ${name} of document ${document.id} is not a ${documentFieldTypes[name]}`);
}

function isText(name: FieldName): name is NamesWithType<'string'> {
  return documentFieldTypes[name] === 'string';
}

function isCount(name: FieldName): name is NamesWithType<'integer'> {
  return documentFieldTypes[name] === 'integer';
}

function isFlag(name: FieldName): name is NamesWithType<'boolean'> {
  return documentFieldTypes[name] === 'boolean';
}
