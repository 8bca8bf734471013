import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { DataOrgSchema as DataOrgV1Schema } from '@zitadel/proto/zitadel/v1_pb.js';

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
