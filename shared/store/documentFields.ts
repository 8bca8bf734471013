/**
 * The fields of stored documents, and their types. The code derives SQLite's columns and Firestore's values from this
 * table.
 */
export const documentFieldTypes = {
  /** The text by which scans select documents. The partition of a record is `<section>/<organisation id>`. */
  partition: 'string',
  /**
   * The id of an organisation: in a record, the organisation that contains the record; in a token, the organisation to
   * which the token's user belonged when the token was created.
   */
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
  state: 'string',
  otpEmail: 'boolean',
  /** The number of changes to the record, including its creation. */
  sequence: 'integer',
  /** ISO 8601, UTC. */
  createdAt: 'string',
  /** The date of the last change, in the format that `lastChange.ts` describes. */
  changedAt: 'string',
  expiresAt: 'string',
  /** In a claim on a unique name, the path of the record that has this name. In a token, the id of the token's user. */
  ownerId: 'string',
  /**
   * If an import created the organisation, the id of the instance that exported it. Absent if this instance is unknown.
   */
  importedFrom: 'string',
  /**
   * The origin of the export that was last imported into the organisation; absent before the first import. See
   * `lastImport.ts`.
   */
  lastImport: 'string',
} as const;

type FieldTypes = { string: string; boolean: boolean; integer: number };

export type FieldName = keyof typeof documentFieldTypes;

export type DocumentFields = { readonly [Name in FieldName]?: FieldTypes[(typeof documentFieldTypes)[Name]] };

/**
 * The credentials of a record, in the order in which the hash of a manifest contains them. When the service compares
 * the credentials of records, it compares exactly these fields. A credential that is not a hash is stored encrypted, in
 * the field `sealedName`.
 */
const credentials = [
  { name: 'passwordHash', sealedName: undefined },
  { name: 'totpSeed', sealedName: 'sealedTotpSeed' },
  { name: 'clientSecret', sealedName: 'sealedClientSecret' },
] as const satisfies readonly { readonly name: FieldName; readonly sealedName: FieldName | undefined }[];

type RecordCredential = (typeof credentials)[number];

export type CredentialField = RecordCredential['name'];

export const credentialFields: readonly CredentialField[] = credentials.map(({ name }) => name);

/**
 * The credentials that operations need in clear text, unlike hashes. The database contains them only in encrypted form.
 */
export const secrets = credentials.filter(isSecret);

function isSecret(credential: RecordCredential): credential is Exclude<RecordCredential, { sealedName: undefined }> {
  return credential.sealedName !== undefined;
}

const allNames = Object.keys(documentFieldTypes) as readonly FieldName[];

/**
 * The names of the fields in the database. The database has a field for the encrypted form of each secret instead of
 * the secret.
 */
export const storedFieldNames = allNames.filter((field) => secrets.every(({ name }) => name !== field));

/**
 * The names of the fields that operations use. Operations have a field for each secret instead of its encrypted form.
 */
export const fieldNames = allNames.filter((field) => secrets.every(({ sealedName }) => sealedName !== field));

type NamesWithType<Type> = {
  [Name in FieldName]: (typeof documentFieldTypes)[Name] extends Type ? Name : never;
}[FieldName];

export type MutableDocument = { id: string } & { -readonly [Name in FieldName]?: DocumentFields[Name] };

/**
 * Adds a field that was read from the database to a document.
 * @throws Error if the value does not have its type in `documentFieldTypes`; this program never writes such a value
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
