import { type DescMessage, getOption, hasOption, toJson } from '@bufbuild/protobuf';
import { FieldRulesSchema, rules } from '@zitadel/proto/validate/validate_pb.js';
import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { DataOrgSchema as DataOrgV1Schema } from '@zitadel/proto/zitadel/v1_pb.js';

/** The fields of each message in the organisation document, with the parts that the service reads. */
export const organisationDefinitions: Record<string, readonly object[]> = {};

function addMessage({ typeName, fields }: DescMessage): void {
  if (organisationDefinitions[typeName] !== undefined) return;
  organisationDefinitions[typeName] = fields.map((field) => ({
    names: [field.name, field.jsonName],
    number: field.number,
    kind: [field.fieldKind, field.scalar],
    message: field.message?.typeName,
    enum: field.enum?.values.map(({ name, number }) => [name, number]),
    oneof: field.oneof?.name,
    rules: hasOption(field, rules) ? toJson(FieldRulesSchema, getOption(field, rules)) : undefined,
  }));
  for (const { message } of fields) if (message !== undefined) addMessage(message);
}

for (const message of [DataOrgSchema, DataOrgV1Schema]) addMessage(message);
