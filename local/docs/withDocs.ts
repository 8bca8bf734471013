import type { Route } from '../../shared/http/app.ts';
import { openApiDocument } from '../../shared/openapi/openApiDocument.ts';
import { docsPage } from './docsPage.ts';

/** Routes, and `GET /docs`, a page that shows to anyone what they take and answer. */
export function withDocs(routes: readonly Route[]): readonly Route[] {
  return [
    ...routes,
    {
      method: 'GET',
      path: '/docs',
      handler: async (context) => {
        const page = docsPage(await openApiDocument(routes), new URL(context.req.url).origin);
        return context.html(page, 200, { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" });
      },
    },
  ];
}
