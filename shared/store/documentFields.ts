/**
 * The fields a stored document can have: SQLite makes its columns of this table, Firestore its typed values.
 * A record is one string of canonical JSON (`body`) beside what the service itself reads.
 */
export const documentFieldTypes = {
  /** What a scan selects by: `<organisation id>/<section>`. */
  partition: 'string',
  /** The organisation that the record belongs to. */
  orgId: 'string',
  /** Canonical JSON of the record, without credentials. */
  body: 'string',
  /** SHA-256 of `body` in base64url. */
  digest: 'string',
  passwordHash: 'string',
  totpSeed: 'string',
  clientSecret: 'string',
  /** Name of the user's or organisation's state, as in ZITADEL's enums. */
  state: 'string',
  /** Whether the user has the OTP e-mail factor. */
  otpEmail: 'boolean',
  /** Number of changes of the record, the first being 1. */
  sequence: 'integer',
  /** ISO 8601, UTC. */
  createdAt: 'string',
  changedAt: 'string',
  expiresAt: 'string',
  /** Of a claim: the document that holds it. Of a token: its user's id. */
  ownerId: 'string',
} as const;

type TypeOf = { string: string; boolean: boolean; integer: number };

/** The name of a document's field. */
export type FieldName = keyof typeof documentFieldTypes;

/** The fields of a document; any may be absent. */
export type DocumentFields = { readonly [Name in FieldName]?: TypeOf[(typeof documentFieldTypes)[Name]] };

/** All field names, in the table's order. */
export const fieldNames = Object.keys(documentFieldTypes) as readonly FieldName[];

type NameOf<Kind> = {
  [Name in FieldName]: (typeof documentFieldTypes)[Name] extends Kind ? Name : never;
}[FieldName];

/** A document while it is being read from the database. */
export type GrowingDocument = { id: string } & { -readonly [Name in FieldName]?: DocumentFields[Name] };

/**
 * Gives a document a field that was read from the database.
 * @throws Error when the value has not the type that `documentFieldTypes` names: another program wrote it
 */
export function setField(document: GrowingDocument, name: FieldName, value: unknown): void {
  if (isText(name) && typeof value === 'string') document[name] = value;
  else if (isCount(name) && typeof value === 'number') document[name] = value;
  else if (isFlag(name) && typeof value === 'boolean') document[name] = value;
  else throw new Error(`the stored field ${name} of document ${document.id} is not a ${documentFieldTypes[name]}`);
}

function isText(name: FieldName): name is NameOf<'string'> {
  return documentFieldTypes[name] === 'string';
}

function isCount(name: FieldName): name is NameOf<'integer'> {
  return documentFieldTypes[name] === 'integer';
}

function isFlag(name: FieldName): name is NameOf<'boolean'> {
  return documentFieldTypes[name] === 'boolean';
}
