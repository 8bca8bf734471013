import { type ImportRequest, importRequest, inlineFields } from '../../shared/contract/importRequest.ts';
import { readRequest } from '../../shared/contract/requestMessage.ts';
import { invalidRequest } from '../../shared/errors/errors.ts';
import { formatPath, JsonFault, JsonScanner, parseJson } from '../../shared/json/jsonScanner.ts';
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
 * Reads an import request (interface 2.5) without holding the document in it.
 * @throws IdentityError INVALID_ARGUMENT for malformed JSON, anything but an object, or a wrong field
 */
export async function readEnvelope(bytes: AsyncIterable<Uint8Array>): Promise<ImportEnvelope> {
  const fields: Record<string, unknown> = {};
  const inline: InlineDocument[] = [];
  const scanner = new JsonScanner((path, kind) => {
    if (path.length > 0) return inlineFields.has(String(path[0])) && kind !== 'scalar' ? 'skip' : 'keep';
    if (kind !== 'object') throw new JsonFault([], 'the body must be a JSON object');
    return 'enter';
  }, MAX_FIELD_BYTES);
  try {
    for await (const chunk of bytes) {
      for (const { path, kind, start, end, text } of scanner.push(chunk)) {
        const field = inlineFields.get(String(path[0]));
        if (field === undefined) fields[String(path[0])] = parseJson(text, path);
        else if (text !== 'null') inline.push({ field, kind, start, end });
      }
    }
    scanner.end();
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw invalidRequest([{ field: formatPath(error.path), description: error.message }]);
  }
  return { request: readRequest(importRequest, fields), inline };
}
