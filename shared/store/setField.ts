import { type DocumentFields, documentFieldTypes, type FieldName } from './documentFields.ts';

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
