import { z } from 'zod';

const record = z.record(z.string(), z.unknown());
const changed = z.looseObject({ sequence: z.string().regex(/^[1-9]\d*$/), changeDate: z.iso.datetime() });
const ZITADEL_DETAIL = 'type.googleapis.com/zitadel.v1.ErrorDetail';

/**
 * A JSON body as ZITADEL's clients see it: without the fields that this service adds to the wire and that they drop
 * (`summary`, `manifest`, details of other types, `creationDate` of specification 2.2), without empty lists, which say
 * the same as absent ones, and with the numbers and dates that differ from call to call replaced by what they are.
 */
export function withoutAdditions(json: unknown): unknown {
  const body = record.safeParse(json);
  if (!body.success) return json;
  const { summary: _summary, manifest: _manifest, details, ...rest } = body.data;
  const fields = Object.entries({ ...rest, details: knownDetails(details) });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined && !isEmptyList(value)));
}

function knownDetails(details: unknown): unknown {
  if (Array.isArray(details)) return details.filter((detail) => record.parse(detail)['@type'] === ZITADEL_DETAIL);
  const operation = changed.safeParse(details);
  if (!operation.success) return details;
  const { creationDate: _creationDate, ...rest } = operation.data;
  return { ...rest, sequence: '<number>', changeDate: '<date>' };
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
