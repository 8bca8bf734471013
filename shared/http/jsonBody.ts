import { isUtf8 } from 'node:buffer';
import { bodyInvalid, bodyNoObject, byteOrderMark } from '../errors/errors.ts';
import { hasByteOrderMark } from '../json/byteOrderMark.ts';
import { duplicateKey } from '../json/duplicateKeys.ts';
import { JsonError, parseJson } from '../json/jsonScanner.ts';
import { type BodyLimits, receiveBody } from './requestBody.ts';

/**
 * Reads a small JSON body. Ignores its content type (zitadel 1.1).
 * @throws IdentityError INVALID_ARGUMENT for an empty body, malformed JSON or bytes that are not UTF-8; RESOURCE_EXHAUSTED above the limits;
 *   the signal's reason when the body does not arrive in time
 */
export async function readJsonBody(request: Request, limits: BodyLimits): Promise<unknown> {
  const body = await receiveBody(request, limits);
  try {
    const text = await readText(body.open());
    if (text.trim() === '') throw bodyNoObject();
    const value = parseJson(text, []);
    const duplicate = duplicateKey(text, value);
    if (duplicate !== undefined) throw new JsonError([], `duplicate field "${duplicate}"`);
    return value;
  } catch (error) {
    if (error instanceof JsonError) throw bodyInvalid(error.message);
    throw error;
  } finally {
    await body.close();
  }
}

async function readText(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  const content = Buffer.concat(parts);
  if (hasByteOrderMark(content)) throw byteOrderMark();
  if (!isUtf8(content)) throw new JsonError([], 'invalid UTF-8');
  return new TextDecoder().decode(content);
}
