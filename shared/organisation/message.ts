import { type DescField, type DescMessage, fromJson, type JsonValue, type Message, toJson } from '@bufbuild/protobuf';
import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { DataOrgSchema as DataOrgV1Schema } from '@zitadel/proto/zitadel/v1_pb.js';
import { isJsonObject, type JsonObject, valueAt } from '../json/jsonObject.ts';
import { checkRules } from './rules.ts';
import type { Section } from './section.ts';

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

/** A field of the organisation document, in either of its shapes (contract 2). */
export interface DocumentField {
  /** Its JSON name. */
  readonly name: string;
  readonly list: boolean;
  /** What its value, or each element of its list, is; none where it is a string or an enum. */
  readonly schema: DescMessage | undefined;
}

/**
 * The fields of an organisation in both shapes by both of their spellings. A v2 export is also taken where a v1 document
 * is expected, so the shapes are read as one: a field that both have is v2's, and v1 adds its own four.
 */
export const documentFields: ReadonlyMap<string, DocumentField> = new Map(
  [...DataOrgV1Schema.fields, ...DataOrgSchema.fields].flatMap((field) => {
    const described = describe(field);
    return [
      [field.name, described],
      [field.jsonName, described],
    ];
  }),
);

function describe(field: DescField): DocumentField {
  return {
    name: field.jsonName,
    list: field.fieldKind === 'list',
    schema: field.fieldKind === 'list' || field.fieldKind === 'message' ? field.message : undefined,
  };
}

/**
 * Reads a message by the wire's JSON mapping (contract 1.1), and gives it back in canonical form: fields in the
 * descriptor's order under their JSON names, defaults left out.
 * @param checked where the rules that the descriptor carries are to be looked at (contract 3): the section, whose
 * credentials may be missing, since an export without them is as good as one with them
 * @throws DocumentFault
 */
export function readMessage(schema: DescMessage, value: unknown, checked: Checked | undefined): JsonObject {
  const message = decode(schema, value);
  const encoded = toJson(schema, message);
  const json = isJsonObject(encoded) ? encoded : {};
  const faults =
    checked === undefined ? [] : checkRules(schema, message).filter(({ path }) => !isLeftOut(checked, json, path));
  if (faults.length > 0) throw new DocumentFault(faults);
  return json;
}

type Checked = Pick<Section, 'credentials'>;

function isLeftOut({ credentials = [] }: Checked, json: JsonObject, path: string): boolean {
  return credentials.some((credential) => credential.path === path) && valueAt(json, path) === undefined;
}

function decode(schema: DescMessage, value: unknown): Message {
  try {
    return fromJson(schema, asJson(value), { ignoreUnknownFields: true });
  } catch (error) {
    throw new DocumentFault([{ path: '', reason: error instanceof Error ? error.message : String(error) }]);
  }
}

/** What JSON.parse returns is JSON: this is where the types are told so. */
function asJson(value: unknown): JsonValue {
  return value as JsonValue;
}
