import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { allEndpoints } from '../../functions/endpoints.ts';
import { createApp, type Route, withOpenApi } from '../../shared/http/app.ts';
import { configureLog } from '../../shared/log.ts';
import type { Endpoint } from '../../shared/openapi/endpoint.ts';
import { openApiDocument } from '../../shared/openapi/openApiDocument.ts';
import { describeRequest, requestMessage, unsupportedField } from '../../shared/wire/requestMessage.ts';

configureLog('silent');
const record = z.record(z.string(), z.unknown());
const thing = z.strictObject({ name: z.string() }).readonly().meta({ id: 'Thing' });
const operation = {
  operationId: 'makeThing',
  summary: 'Make a thing',
  description: 'Makes it.',
  parameters: { id: { contract: z.string().meta({ minLength: 1 }), example: '7' } },
  response: { description: 'It is made.', contract: z.strictObject({ thing }) },
  errors: { 409: 'It is there.' },
};
const endpoint: Endpoint = { method: 'POST', path: '/things/:id', operation: () => operation };

describe('the description of an endpoint', async () => {
  const document = await openApiDocument([endpoint, { method: 'POST', path: '/rpc' }]);

  it('stands under its path and method, with its parameters', () => {
    expect(document.paths['/things/{id}']?.post).toMatchObject({
      operationId: 'makeThing',
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', minLength: 1 }, example: '7' }],
    });
  });

  it('is left out where it has none', () => {
    expect(Object.keys(document.paths)).toEqual(['/things/{id}']);
  });

  it('has the error body for the statuses that are named and for all others', () => {
    const { responses = {} } = document.paths['/things/{id}']?.post ?? {};
    expect(Object.keys(responses)).toEqual(['200', '409', 'default']);
    for (const status of ['409', 'default']) {
      expect(responses[status]?.content['application/json']?.schema).toEqual({ $ref: '#/components/schemas/Error' });
    }
  });

  it('refers to components by their names', () => {
    expect(Object.keys(document.components.schemas).sort()).toEqual(['Error', 'Thing']);
    const { schema } = document.paths['/things/{id}']?.post?.responses['200']?.content['application/json'] ?? {};
    expect(schema).toMatchObject({ properties: { thing: { $ref: '#/components/schemas/Thing' } } });
  });

  it('has no field that only responses could hold', async () => {
    expect(JSON.stringify(document)).not.toContain('readOnly');
    expect(JSON.stringify(await openApiDocument(await allEndpoints()))).not.toContain('readOnly');
  });

  it('refers to nothing that is not there', async () => {
    const text = JSON.stringify(await openApiDocument(await allEndpoints()));
    const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    const { components } = z.object({ components: z.object({ schemas: record }) }).parse(JSON.parse(text));
    expect(new Set(names)).toEqual(new Set(Object.keys(components.schemas)));
    expect(text).not.toMatch(/\$defs|x-message/);
  });
});

describe('the description of a request', () => {
  const message = requestMessage({
    dryRun: z.boolean().default(false),
    onConflict: z.enum(['report', 'skip']).default('report'),
    inner: requestMessage({ someText: z.string().default('') })
      .meta({ required: ['someText'] })
      .optional(),
    localOutput: unsupportedField,
  });
  const schema = describeRequest(message, { properties: { more: {} }, anyOf: [{ required: ['more'] }] });

  it('has the names of the interface', () => {
    expect(Object.keys(schema.properties ?? {})).toEqual(['dry_run', 'on_conflict', 'inner', 'more']);
  });

  it('has null for every field that may be left out', () => {
    expect(schema.properties).toMatchObject({
      dry_run: { type: ['boolean', 'null'], default: false },
      on_conflict: { enum: ['report', 'skip', null] },
      inner: { type: ['object', 'null'] },
    });
  });

  it('has fields that are required as they are, without a default', () => {
    expect(schema.properties?.inner).toMatchObject({
      required: ['some_text'],
      properties: { some_text: { type: 'string' } },
    });
    expect(JSON.stringify(schema.properties?.inner)).not.toContain('default');
  });

  it('has what belongs together', () => {
    expect(schema.anyOf).toEqual([{ required: ['more'] }]);
  });
});

describe('GET /openapi.json', () => {
  const route: Route = { ...endpoint, handler: () => new Response() };
  const app = createApp({ routes: withOpenApi([route]) });

  it('describes the routes to anyone, the same each time', async () => {
    const first = await app.request('/openapi.json');
    expect(first.headers.get('content-type')).toBe('application/json');
    const text = await first.text();
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(await openApiDocument([endpoint]))));
    expect(await (await app.request('/openapi.json')).text()).toBe(text);
  });

  it('describes others where it is told to', async () => {
    const scoped = createApp({ routes: withOpenApi([route], allEndpoints) });
    const { paths } = z.object({ paths: record }).parse(await (await scoped.request('/openapi.json')).json());
    expect(Object.keys(paths)).toEqual([
      '/v2/users/{userId}/otp_email',
      '/v2beta/users/{userId}/otp_email',
      '/admin/v1/export',
      '/admin/v1/import',
    ]);
  });

  it.each(['POST', 'HEAD', 'OPTIONS'])('is for GET only, not for %s', async (method) => {
    const response = await app.request('/openapi.json', { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET');
  });
});
