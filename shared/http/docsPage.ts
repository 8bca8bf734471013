import { readFile } from 'node:fs/promises';
import type { StatedLimits } from '../limits.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import type { Route } from './app.ts';
import { forMonitors, respondAlive } from './health.ts';
import { fixedContent } from './responses.ts';

/**
 * The directory of Swagger UI next to the bundle of the command. The build sets this constant, because the bundle does
 * not contain the package `swagger-ui-dist`.
 */
declare const SWAGGER_UI: string | undefined;

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

// A link to the page may contain a token as `#token=`. Browsers do not send this part of a link to the server, and the
// script removes it from the address at once. Without `validatorUrl: null`, Swagger UI may send the document to a
// validator on the internet.
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

// Fits the wide tables of Swagger UI into narrow screens. Hides the headings for links and for servers, because the
// document has neither links nor a choice of servers. Shows deprecated operations with normal contrast.
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

// The page may contain a token, so it may run only its own scripts, and send requests only to this origin.
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
 * Returns two routes without authentication. `GET /docs` is a page that shows `/openapi.json` and can call its
 * operations; `GET /` redirects browsers to this page. The functions in Google Cloud do not have these routes.
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

/**
 * Redirects browsers to the page. Responds 200 to clients other than browsers, because they are probes, and some probes
 * do not accept a redirect.
 */
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
 * Adds the route `GET /openapi.json`, which needs no authentication.
 * @param loadEndpoints loads the endpoints that the document describes, for example if other functions serve further
 * endpoints at the same base URL. If absent, the document describes `routes`
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

// Load the module only when a client requests the document, because most processes never serve the document.
async function renderDescription(endpoints: readonly Endpoint[], limits: StatedLimits): Promise<string> {
  const { openApiDocument } = await import('../openapi/openApiDocument.ts');
  return JSON.stringify(openApiDocument(endpoints, limits));
}
