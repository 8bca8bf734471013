import { type ImportRequest, importFields, importRequest, inlineFields } from '../../shared/contract/importRequest.ts';
import { readRequest } from '../../shared/contract/requestMessage.ts';
import { bodyInvalid, bodyNoObject, invalidRequest } from '../../shared/errors/errors.ts';
import {
  formatPath,
  JsonFault,
  JsonScanner,
  parseJson,
  type ScannedValue,
  type Treatment,
} from '../../shared/json/jsonScanner.ts';
import type { ValueKind } from '../../shared/json/valueScanner.ts';

/** A document inside the request: where its bytes are, `end` exclusive, and whether it is an object or a string. */
export interface InlineDocument {
  readonly field: string;
  readonly kind: ValueKind;
  readonly start: number;
  readonly end: number;
}

/** An import request without the document that it may carry, which can be large and is only located. */
export interface ImportEnvelope {
  readonly request: ImportRequest;
  readonly inline: readonly InlineDocument[];
}

const MAX_FIELD_BYTES = 256 * 1024;

/**
 * Reads an import request (interface 2.5) without holding the document in it. Unknown fields are passed over (contract
 * 1.1), whatever their size; as far as they could be held, they too must be JSON.
 * @throws IdentityError INVALID_ARGUMENT for malformed JSON, anything but an object, or a wrong field
 */
export async function readEnvelope(bytes: AsyncIterable<Uint8Array>): Promise<ImportEnvelope> {
  const fields: Record<string, unknown> = {};
  const inline: InlineDocument[] = [];
  const scanner = new JsonScanner((path, kind) => {
    if (path.length > 0) return treatField(String(path[0]), kind);
    if (kind !== 'object') throw bodyNoObject();
    return 'enter';
  }, MAX_FIELD_BYTES);
  try {
    for await (const chunk of bytes) {
      for (const value of scanner.push(chunk)) takeField(value, fields, inline);
    }
    scanner.end();
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    if (error.path.length === 0) throw bodyInvalid(error.message);
    throw invalidRequest([{ field: formatPath(error.path), description: error.message }]);
  }
  return { request: readRequest(importRequest, fields), inline };
}

function takeField(
  { path, kind, start, end, text }: ScannedValue,
  fields: Record<string, unknown>,
  inline: InlineDocument[],
): void {
  const name = String(path[0]);
  const field = inlineFields.get(name);
  if (field !== undefined) {
    if (text !== 'null') inline.push({ field, kind, start, end });
    return;
  }
  const value = text === '' ? undefined : parseJson(text, path);
  if (importFields.has(name)) fields[name] = value;
}

function treatField(name: string, kind: ValueKind): Treatment {
  if (inlineFields.has(name) && kind !== 'scalar') return 'skip';
  return importFields.has(name) || inlineFields.has(name) ? 'keep' : 'glance';
}
