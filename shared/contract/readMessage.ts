import { type DescMessage, fromJson, type JsonValue, type Message, toJson } from '@bufbuild/protobuf';
import { DocumentFault } from './documentFault.ts';
import { isRecord, type JsonRecord, valueAt } from './jsonRecord.ts';
import { checkRules } from './rules.ts';
import type { Section } from './section.ts';

/**
 * Reads a message by the wire's JSON mapping (contract 1.1), and gives it back in canonical form: fields in the
 * descriptor's order under their JSON names, defaults left out.
 * @param checked where the rules that the descriptor carries are to be looked at (contract 3): the section, whose
 * credentials may be missing, since an export without them is as good as one with them
 * @throws DocumentFault
 */
export function readMessage(schema: DescMessage, value: unknown, checked: Checked | undefined): JsonRecord {
  const message = decode(schema, value);
  const encoded = toJson(schema, message);
  const json = isRecord(encoded) ? encoded : {};
  const faults =
    checked === undefined ? [] : checkRules(schema, message).filter(({ path }) => !isLeftOut(checked, json, path));
  if (faults.length > 0) throw new DocumentFault(faults);
  return json;
}

type Checked = Pick<Section, 'credentials'>;

function isLeftOut({ credentials = [] }: Checked, json: JsonRecord, path: string): boolean {
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
