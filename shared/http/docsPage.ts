// The interactive documentation and the OpenAPI document.

import { readFile } from 'node:fs/promises';
import type { StatedLimits } from '../limits.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import type { Route } from './app.ts';
import { forMonitors, respondAlive } from './health.ts';
import { fixedContent } from './responses.ts';

/**
 * The directory of Swagger UI next to the bundle of the command. The build defines it, because a bundle contains no
 * packages.
 */
declare const SWAGGER_UI: string | undefined;

/** The files of `swagger-ui-dist` that requests may read. */
export const packageFiles = [
  { name: 'swagger-ui.css', type: 'text/css; charset=utf-8' },
  { name: 'swagger-ui-bundle.js', type: 'text/javascript; charset=utf-8' },
] as const;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Identity</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
</head>
<body>
<noscript>This page needs JavaScript. <a href="/openapi.json">openapi.json</a> contains the same description.</noscript>
<div id="operations"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/page.js"></script>
</body>
</html>
`;

// A link may contain a token as `#token=`, which browsers never send; the script removes it from the address
// immediately. Without `validatorUrl: null`, Swagger UI may send the document to a validator on the internet.
const script = `const dark = matchMedia('(prefers-color-scheme: dark)');
const followSystem = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followSystem);
followSystem();
const [, token] = /^#token=([\\w-]+)$/.exec(location.hash) ?? [];
if (token !== undefined) history.replaceState(null, '', location.pathname);
const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#operations',
  validatorUrl: null,
  deepLinking: true,
  defaultModelRendering: 'model',
  onComplete: () => token !== undefined && ui.preauthorizeApiKey('token', token),
});
`;

// Fits Swagger UI's wide tables into narrow screens. Hides the headings for links and the choice of servers, which the
// document does not have. Shows deprecated operations in full instead of pale colours.
const pageStyle = `body { margin: 0 }
#operations .info { margin: 1.5rem 0 }
#operations .scheme-container { padding: 0 0 1rem; box-shadow: none }
#operations :is(.response-col_links, .schemes-server-container) { display: none }
#operations .opblock-deprecated { opacity: 1 }
#operations .opblock-deprecated .opblock-summary-method { background: #595959; color: #ffffff; text-shadow: none }
@media (max-width: 640px) {
  #operations .wrapper { padding: 0 .5rem }
  #operations .opblock-body :is(table, tbody, tr) { display: block }
  #operations .opblock-body td:not(.response-col_links) { display: block; width: auto; max-width: none; padding: .25rem 0 }
  #operations .opblock-body thead { display: none }
  #operations .opblock-body select { max-width: 100% }
}
`;

// The open page contains a token, so only its own scripts may run, and only requests to this origin are permitted.
const securityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/**
 * Returns `GET /docs`, a page that shows `/openapi.json` and can call its operations, and `GET /`, which redirects
 * browsers there. Neither requires authentication. The archives of the functions do not contain the page.
 */
export function docsRoutes(): readonly Route[] {
  return forMonitors([
    { method: 'GET', path: '/', handler: openPage },
    fixedFile('/docs', 'text/html; charset=utf-8', () => page),
    fixedFile('/docs/page.js', 'text/javascript; charset=utf-8', () => script),
    fixedFile('/docs/page.css', 'text/css; charset=utf-8', () => pageStyle),
    ...packageFiles.map(({ name, type }) => fixedFile(`/docs/${name}`, type, () => readPackageFile(name))),
  ]);
}

/** Redirects browsers to the page. Other clients of the root are probes, some of which require 200. */
const openPage: Route['handler'] = ({ req, redirect }) =>
  req.header('accept')?.includes('text/html') === true ? redirect('/docs') : respondAlive();

function fixedFile(path: string, type: string, read: () => string | Promise<Uint8Array<ArrayBuffer>>): Route {
  const headers = { 'content-type': type, 'content-security-policy': securityPolicy.join('; ') };
  return { method: 'GET', path, handler: fixedContent(headers, read) };
}

function readPackageFile(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const directory =
    typeof SWAGGER_UI === 'string'
      ? new URL(SWAGGER_UI, import.meta.url)
      : import.meta.resolve('swagger-ui-dist/package.json');
  return readFile(new URL(name, directory));
}

/**
 * Adds `GET /openapi.json`, which describes the routes and requires no authentication.
 * @param limits the limits that the document states
 * @param loadEndpoints loads the endpoints to describe, if other functions serve the same base URL; by default the
 * routes
 */
export function withOpenApi(
  routes: readonly Route[],
  limits: StatedLimits,
  loadEndpoints: () => Promise<readonly Endpoint[]> = async () => routes,
): readonly Route[] {
  const describeAll = async () => renderDescription(await loadEndpoints(), limits);
  return [
    ...routes,
    ...forMonitors([
      {
        method: 'GET',
        path: '/openapi.json',
        handler: fixedContent({ 'content-type': 'application/json' }, describeAll),
      },
    ]),
  ];
}

// Load the module only here, because most processes never serve their description.
async function renderDescription(endpoints: readonly Endpoint[], limits: StatedLimits): Promise<string> {
  const { openApiDocument } = await import('../openapi/openApiDocument.ts');
  return JSON.stringify(openApiDocument(endpoints, limits));
}
