import { z } from 'zod';
import { request, type ZitadelConnection } from './connection.ts';

const PAGE = 100;

/** What to search, and the form of its results. */
export interface Search<Result> {
  readonly path: string;
  /** The organisation in whose context ZITADEL searches. */
  readonly orgId?: string;
  readonly result: z.ZodType<Result>;
}

/** Yields all results of one of ZITADEL's searches, page by page. */
export async function* search<Result>(
  connection: ZitadelConnection,
  { path, orgId, result }: Search<Result>,
): AsyncGenerator<Result, void, void> {
  const page = z.looseObject({ result: z.array(result).default([]) });
  for (let offset = 0; ; offset += PAGE) {
    const body = JSON.stringify({ query: { offset: String(offset), limit: PAGE, asc: true } });
    const found = await request(
      connection,
      { method: 'POST', path, body, ...(orgId === undefined ? {} : { orgId }) },
      page,
    );
    yield* found.result;
    if (found.result.length < PAGE) return;
  }
}

/** Returns all results of one of ZITADEL's searches. */
export async function searchAll<Result>(connection: ZitadelConnection, wanted: Search<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for await (const result of search(connection, wanted)) results.push(result);
  return results;
}
