import type { Route } from '../http/route.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * Routes, and `GET /openapi.json`, which describes them to anyone (no token).
 * @param described what is described in their place, where others answer on the same base URL
 */
export function withOpenApi(routes: readonly Route[], described: readonly Endpoint[] = routes): readonly Route[] {
  let text: Promise<string> | undefined;
  return [
    ...routes,
    {
      method: 'GET',
      path: '/openapi.json',
      handler: async () => {
        text ??= documentText(described);
        return new Response(await text, { headers: { 'content-type': 'application/json' } });
      },
    },
  ];
}

// Loaded and made when it is asked for, since most processes never are.
async function documentText(endpoints: readonly Endpoint[]): Promise<string> {
  const { openApiDocument } = await import('./openApiDocument.ts');
  return JSON.stringify(await openApiDocument(endpoints));
}
