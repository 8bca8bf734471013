import type { DescMessage } from '@bufbuild/protobuf';
import { recordSchema } from '../../../../shared/organisation/recordSchema.ts';
import type { Section } from '../../../../shared/organisation/sections/section.ts';

/** An object of a section's records. */
export interface RecordObject {
  /** What precedes the names of its fields in their paths. */
  readonly prefix: string;
  /** Whether a field of this service may be in it. */
  readonly mayKeep: boolean;
}

/** The object with a person's password hash, which exports may omit. */
const SECRET = 'user.hashedPassword.';

/** Lists the objects of a section's records, the record itself first. */
export function objectsOf(section: Section): readonly RecordObject[] {
  const schema = recordSchema(section);
  if (section.name !== 'org') return [...objectsIn(schema, '', true)];
  const own = schema.fields.filter(({ jsonName }) => jsonName === 'org');
  return [
    { prefix: '', mayKeep: false },
    ...own.flatMap(({ message }) => (message ? [...objectsIn(message, 'org.', true)] : [])),
  ];
}

function* objectsIn(schema: DescMessage, prefix: string, mayKeep: boolean): Generator<RecordObject> {
  yield { prefix, mayKeep: mayKeep && prefix !== SECRET };
  for (const { message, jsonName, fieldKind, oneof } of schema.fields)
    if (message !== undefined && !message.typeName.startsWith('google.'))
      yield* objectsIn(message, `${prefix}${jsonName}.`, mayKeep && fieldKind === 'message' && oneof === undefined);
}
