// The fields of stored documents, and which of them are secrets.

/**
 * The fields of a stored document. SQLite's columns and Firestore's typed values derive from this table. A record is a
 * string of canonical JSON (`body`); the other fields contain values that the service itself reads.
 */
export const documentFieldTypes = {
  /** The key by which scans select documents: `<section>/<organisation id>` for a record. */
  partition: 'string',
  /** The organisation of the record, or of a token's user when the token was created. */
  orgId: 'string',
  /** Canonical JSON of the record, without credentials. */
  body: 'string',
  /** SHA-256 of `body` in base64url. */
  digest: 'string',
  passwordHash: 'string',
  totpSeed: 'string',
  clientSecret: 'string',
  sealedTotpSeed: 'string',
  sealedClientSecret: 'string',
  /** The user's or organisation's state, a name in ZITADEL's enums. */
  state: 'string',
  /** Whether the user has the OTP e-mail factor. */
  otpEmail: 'boolean',
  /** The number of changes to the record, including its creation. */
  sequence: 'integer',
  /** ISO 8601, UTC. */
  createdAt: 'string',
  /** The date of the last change; see `lastChange.ts`. */
  changedAt: 'string',
  expiresAt: 'string',
  /** In a claim, the path of the record that owns the claim; in a token, the id of its user. */
  ownerId: 'string',
  /**
   * The id of the instance from whose export an import created the organisation; absent if unknown, or if no import
   * created it.
   */
  importedFrom: 'string',
  /** The export that was last imported into the organisation; absent before the first import. See `lastImport.ts`. */
  lastImport: 'string',
} as const;

type FieldTypes = { string: string; boolean: boolean; integer: number };

export type FieldName = keyof typeof documentFieldTypes;

/** The fields of a document. Every field may be absent. */
export type DocumentFields = { readonly [Name in FieldName]?: FieldTypes[(typeof documentFieldTypes)[Name]] };

/**
 * The credentials of a record, in the order in which manifests hash them. This list determines which fields the service
 * compares as credentials. A credential that is not a hash also has a field for its encrypted form.
 */
const credentials = [
  { name: 'passwordHash', sealedName: undefined },
  { name: 'totpSeed', sealedName: 'sealedTotpSeed' },
  { name: 'clientSecret', sealedName: 'sealedClientSecret' },
] as const satisfies readonly { readonly name: FieldName; readonly sealedName: FieldName | undefined }[];

type RecordCredential = (typeof credentials)[number];

export type CredentialField = RecordCredential['name'];

export const credentialFields: readonly CredentialField[] = credentials.map(({ name }) => name);

/** Secrets that operations need in clear text. Databases contain only their encrypted forms. */
export const secrets = credentials.filter(isSecret);

function isSecret(credential: RecordCredential): credential is Exclude<RecordCredential, { sealedName: undefined }> {
  return credential.sealedName !== undefined;
}

const allNames = Object.keys(documentFieldTypes) as readonly FieldName[];

/** The names of the fields that databases contain. They include the encrypted forms of secrets, not the secrets. */
export const storedFieldNames = allNames.filter((field) => secrets.every(({ name }) => name !== field));

/** The names of the fields that operations use. They include the secrets, not their encrypted forms. */
export const fieldNames = allNames.filter((field) => secrets.every(({ sealedName }) => sealedName !== field));

type NamesWithType<Type> = {
  [Name in FieldName]: (typeof documentFieldTypes)[Name] extends Type ? Name : never;
}[FieldName];

/** A document under construction while its fields are read from the database. */
export type MutableDocument = { id: string } & { -readonly [Name in FieldName]?: DocumentFields[Name] };

/**
 * Sets a field that was read from the database.
 * @throws Error if the value does not have the type in `documentFieldTypes`, because another program wrote it
 */
export function setField(document: MutableDocument, name: FieldName, value: unknown): void {
  if (hasType(name, 'string') && typeof value === 'string') document[name] = value;
  else if (hasType(name, 'integer') && typeof value === 'number') document[name] = value;
  else if (hasType(name, 'boolean') && typeof value === 'boolean') document[name] = value;
  else throw new Error(`the stored field ${name} of document ${document.id} is not a ${documentFieldTypes[name]}`);
}

function hasType<Type extends keyof FieldTypes>(name: FieldName, type: Type): name is NamesWithType<Type> {
  return documentFieldTypes[name] === type;
}
