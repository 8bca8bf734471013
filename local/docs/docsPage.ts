import { html } from 'hono/html';
import type { MediaTypeObject, OpenApiDocument, OperationObject } from '../../shared/openapi/openApiDocument.ts';
import { fieldTable, type Html, prose, typeOf } from './schemaView.ts';

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 70rem; margin: 0 auto; padding: 1rem }
section { border-top: 1px solid #8888; margin-top: 2rem }
table { border-collapse: collapse; margin: .5rem 0 }
th, td { border: 1px solid #8888; padding: .2rem .6rem; text-align: left; vertical-align: top }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: .6rem; background: #8882 }
`;

/** An OpenAPI document as one page that needs nothing else: no script, no other address. */
export function docsPage({ info, paths, components }: OpenApiDocument, baseUrl: string): Html {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${info.title} ${info.version}</title><style>${style}</style></head>
<body>
<h1>${info.title} ${info.version}</h1>
<p>${info.description} This page shows <a href="/openapi.json">openapi.json</a>. Fields with * are required.</p>
<ul>${operations.map(({ method, path, operation }) => html`<li><a href="#${operation.operationId}">${method} ${path}</a> ${operation.summary}</li>`)}</ul>
${operations.map(({ method, path, operation }) => operationSection(method, path, operation, baseUrl))}
${Object.entries(components.schemas).map(([name, schema]) => html`<section id="${name}"><h2>${name}</h2><p>${prose(schema.description)}</p>${fieldTable(schema)}</section>`)}
</body>
</html>
`;
}

function operationSection(method: string, path: string, operation: OperationObject, baseUrl: string): Html {
  const { operationId, summary, description, deprecated, parameters = [], requestBody, responses } = operation;
  const url = parameters.reduce((text, { name, example }) => text.replace(`{${name}}`, example), `${baseUrl}${path}`);
  const rows = parameters.map(
    ({ name, schema }) =>
      html`<tr><td><code>${name}</code> *</td><td>${typeOf(schema)}</td><td>${prose(schema.description)}</td></tr>`,
  );
  const answers = Object.entries(responses).map(
    ([status, answer]) =>
      html`<tr><td>${status}</td><td>${Object.values(answer.content).map(({ schema }) => typeOf(schema))}</td><td>${prose(answer.description)}</td></tr>`,
  );
  return html`<section id="${operationId}">
<h2>${method} ${path}</h2>
<p><strong>${summary}.</strong> ${prose(description)}${deprecated === true ? ' Deprecated.' : ''}</p>
${rows.length === 0 ? '' : html`<table><tr><th>in the path</th><th>type</th><th>meaning</th></tr>${rows}</table>`}
${Object.values(requestBody?.content ?? {}).map(({ schema }) => fieldTable(schema))}
${commandsOf(method, url, requestBody?.content)}
<table><tr><th>status</th><th>answer</th><th>when</th></tr>${answers}</table>
</section>`;
}

function commandsOf(method: string, url: string, content: Readonly<Record<string, MediaTypeObject>> = {}): Html {
  const call = `curl -sS -X ${method} ${url} -H "Authorization: Bearer $TOKEN"`;
  const bodies = Object.entries(content).flatMap(([type, { examples = {} }]) =>
    Object.values(examples).map(({ summary, value }) => ({ type, summary, text: JSON.stringify(value) })),
  );
  if (bodies.length === 0) return html`<pre>${call}</pre>`;
  return html`${bodies.map(({ type, summary, text }) => html`<pre># ${summary}\n${call} \\\n  -H 'Content-Type: ${type}' -d '${text}'</pre>`)}`;
}
