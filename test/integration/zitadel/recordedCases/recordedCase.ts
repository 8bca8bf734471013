import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';

const request = z.object({
  method: z.string(),
  path: z.string(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string()), z.null()])).default({}),
  body: z.unknown().optional(),
  rawBody: z.string().optional(),
  base64Body: z.string().optional(),
});

const observation = z.object({
  status: z.number(),
  body: z.unknown().optional(),
  errors: z.array(z.unknown()).optional(),
  success: z.unknown().optional(),
  headers: z.record(z.string(), z.unknown()).optional(),
  exported: z.unknown().optional(),
});

const recordedCase = z.object({
  name: z.string(),
  group: z.string(),
  request,
  before: z.array(request).default([]),
  export: z.array(z.string()).optional(),
  zitadel: observation,
  zitadelAgain: observation.optional(),
  ignore: z.array(z.string()).default([]),
});

/** A request, with placeholders. */
export type RecordedRequest = z.infer<typeof request>;
/** What a server answered, and what its export then held. */
export type Observation = z.infer<typeof observation>;
/** A request that was sent to a running ZITADEL, and what was observed. */
export type RecordedCase = z.infer<typeof recordedCase>;

const file = new URL('../../../fixtures/zitadel/differential.json.gz', import.meta.url);

/** Reads the recorded cases. Those with clashing ids of organisations do not depend on their order. */
export function readRecordedCases(): readonly RecordedCase[] {
  return z.array(recordedCase).parse(JSON.parse(gunzipSync(readFileSync(file)).toString()));
}
