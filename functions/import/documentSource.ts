import type { Bucket } from '../../shared/bucket/bucket.ts';
import { objectLocation } from '../../shared/contract/bucketRequest.ts';
import { bucketFields, refusedFields } from '../../shared/contract/importRequest.ts';
import { snakeCase } from '../../shared/contract/requestMessage.ts';
import { type FieldViolation, invalidRequest, sourceUnsupported } from '../../shared/errors/errors.ts';
import { stringContent } from '../../shared/json/stringContent.ts';
import type { ImportEnvelope, InlineDocument } from './importEnvelope.ts';
import type { DocumentSource } from './inspection.ts';

/** The request's bytes, which can be read again in any part. */
export interface RequestBytes {
  open(start?: number, end?: number): AsyncIterable<Uint8Array>;
}

/**
 * The one document that a request names (interface 4.3): inside it, as an object or as a string, or in a bucket, where
 * the object's generation of now is what is read however often.
 * @throws IdentityError INVALID_ARGUMENT for no source or more than one; UNIMPLEMENTED for ZITADEL's local and S3 sources
 */
export async function documentSource(
  { request, inline }: ImportEnvelope,
  body: RequestBytes,
  bucket: Bucket,
  signal: AbortSignal,
): Promise<DocumentSource> {
  const refused = refusedFields.find((name) => request[name] !== undefined);
  if (refused !== undefined) throw sourceUnsupported(snakeCase(refused));
  const named = bucketFields.filter((name) => request[name] !== undefined);
  const fields = [...inline.map(({ field }) => field), ...named.map(snakeCase)];
  if (fields.length !== 1) throw invalidRequest([wrongNumber(fields)]);
  const [document] = inline;
  if (document !== undefined) return inlineSource(document, body);
  const [name = 'dataOrgsGcs'] = named;
  const location = request[name] && objectLocation(request[name], snakeCase(name));
  if (location === undefined) throw invalidRequest([wrongNumber([])]);
  const object = await bucket.pin(location, signal);
  return { open: (reading) => object.read(reading) };
}

function inlineSource({ field, kind, start, end }: InlineDocument, body: RequestBytes): DocumentSource {
  if (kind === 'object') return { field, open: () => body.open(start, end) };
  if (kind === 'string') return { field, open: () => stringContent(body.open(start + 1, end - 1)) };
  throw invalidRequest([
    { field, description: 'expected an export file: a JSON object, or a string that contains one' },
  ]);
}

function wrongNumber(fields: readonly string[]): FieldViolation {
  const given = fields.length === 0 ? 'no source' : `several sources, ${fields.join(' and ')}`;
  const description = `${given}: set exactly one of data_orgsv1, data_orgsv1_gcs, data_orgs and data_orgs_gcs`;
  return { field: fields[0] ?? 'data_orgsv1', description };
}
