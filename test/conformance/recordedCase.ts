import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';

const request = z.object({
  method: z.string(),
  path: z.string(),
  /** The caller, if it is not the IAM_OWNER. */
  as: z.enum(['orgOwner', 'viewer', 'nobody']).optional(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string()), z.null()])).default({}),
  body: z.unknown().optional(),
  rawBody: z.unknown().optional(),
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

const recordings = z.object({
  /** The release of the recorded ZITADEL. */
  release: z.string(),
  cases: z.array(recordedCase),
});

/** A request with placeholders. */
export type RecordedRequest = z.infer<typeof request>;
/** A server's response to a case, and the content of its export afterwards. */
export type Observation = z.infer<typeof observation>;
/** A request that was sent to a running ZITADEL, and its observed response. The cases are independent of each other. */
export type RecordedCase = z.infer<typeof recordedCase>;

const file = new URL('../fixtures/zitadel/recorded-cases.json.gz', import.meta.url);

/** Reads the recorded cases, and the release of ZITADEL that they were recorded with. */
export function readRecordings(): z.infer<typeof recordings> {
  return recordings.parse(JSON.parse(gunzipSync(readFileSync(file)).toString()));
}
