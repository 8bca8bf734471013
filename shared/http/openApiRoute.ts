import type { Endpoint } from '../openapi/endpoint.ts';
import type { Route } from './app.ts';
import { fixedContent } from './responseBody.ts';

/**
 * Adds `GET /openapi.json`, which describes the routes without authentication.
 * @param loadEndpoints loads the endpoints to describe instead, where other functions serve the same base URL
 */
export function withOpenApi(
  routes: readonly Route[],
  loadEndpoints: () => Promise<readonly Endpoint[]> = async () => routes,
): readonly Route[] {
  const describeAll = async () => describe(await loadEndpoints());
  return [
    ...routes,
    {
      method: 'GET',
      path: '/openapi.json',
      handler: fixedContent({ 'content-type': 'application/json' }, describeAll),
    },
  ];
}

// Loaded lazily: most processes never serve their description.
async function describe(endpoints: readonly Endpoint[]): Promise<string> {
  const { openApiDocument } = await import('../openapi/openApiDocument.ts');
  return JSON.stringify(openApiDocument(endpoints));
}
