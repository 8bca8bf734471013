import { z } from 'zod';
import { type Answer, type SendOptions, send } from './answer.ts';

/** A request that the suite itself sends besides the rows, as IAM_OWNER. */
export interface OwnRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** The organisation in whose context ZITADEL handles the request. */
  readonly orgId?: string;
  /** Whose token is sent instead of the IAM_OWNER's. */
  readonly token?: string;
}

/** Sends a request of the suite. */
export type Ask = (request: OwnRequest) => Promise<Answer>;

/** Sends the suite's requests to one server. */
export function asOwner(baseUrl: string, owner: string, options: SendOptions = {}): Ask {
  return ({ method, path, body, orgId, token = owner }) => {
    const context = orgId === undefined ? {} : { 'x-zitadel-orgid': orgId };
    const headers = { 'content-type': 'application/json', ...context };
    const request = { method, path, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    return send(baseUrl, request, `Bearer ${token}`, options);
  };
}

const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue('is no JSON');
    return z.NEVER;
  }
});

/** Returns the text's JSON, if it has the form. */
export function jsonOf<Form>(schema: z.ZodType<Form>, text: string): Form | undefined {
  return json.pipe(schema).safeParse(text).data;
}
