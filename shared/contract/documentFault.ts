/** Something in a document that is not as the contract says. */
export interface FaultyField {
  /** Where, from the record on: `user.email.email`; empty for the record itself. */
  readonly path: string;
  readonly reason: string;
  /** How ZITADEL puts it, where it does. */
  readonly message?: string;
}

/** A part of a document is not as the contract says, in one or more of its fields. */
export class DocumentFault extends Error {
  override readonly name = 'DocumentFault';
  readonly fields: readonly FaultyField[];

  constructor(fields: readonly FaultyField[]) {
    super(fields.map(({ path, reason }) => (path === '' ? reason : `${path}: ${reason}`)).join('; '));
    this.fields = fields;
  }
}
