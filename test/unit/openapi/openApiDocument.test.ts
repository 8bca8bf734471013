import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { allEndpoints } from '../../../functions/endpoints.ts';
import type { Endpoint, OperationDescription } from '../../../shared/openapi/endpoint.ts';
import { openApiDocument } from '../../../shared/openapi/openApiDocument.ts';

const record = z.record(z.string(), z.unknown());
const thing = z.strictObject({ name: z.string() }).readonly().meta({ id: 'Thing' });
const operation: OperationDescription = {
  operationId: 'makeThing',
  tag: 'Users',
  summary: 'Make a thing',
  description: 'Makes it.',
  parameters: { id: { contract: z.string().meta({ minLength: 1 }), example: '7' } },
  query: { 'size.inches': z.boolean().default(false).describe('How large.'), key: z.string() },
  request: { schema: { type: 'object' }, examples: {}, others: { 'text/plain': { type: 'string', format: 'binary' } } },
  response: { description: 'It is made.', contract: z.strictObject({ thing }) },
  redirect: { description: 'It is elsewhere.', contract: z.strictObject({ thing }), location: 'Where.' },
  errors: { 409: 'It is there.' },
};
const endpoint: Endpoint = { method: 'POST', path: '/things/:id', operation: () => operation };

describe('the description of an endpoint', () => {
  const document = openApiDocument([endpoint, { method: 'POST', path: '/rpc' }]);

  it('is listed under its path and method, with the parameters of its path and, without values, of its query', () => {
    const { operationId, tags, parameters } = document.paths['/things/{id}']?.post ?? {};
    expect([operationId, tags]).toEqual(['makeThing', ['Users']]);
    expect(parameters).toEqual([
      { name: 'id', in: 'path', required: true, schema: { type: 'string', minLength: 1 }, example: '7' },
      { name: 'size.inches', in: 'query', description: 'How large.', schema: { type: 'boolean' } },
      { name: 'key', in: 'query', required: true, schema: { type: 'string' } },
    ]);
  });

  it('contains the media types of its request', () => {
    expect(document.paths['/things/{id}']?.post?.requestBody?.content).toEqual({
      'application/json': { schema: { type: 'object' }, examples: {} },
      'text/plain': { schema: { type: 'string', format: 'binary' } },
    });
  });

  it('contains the owner of its address, its licence, and the meaning of its tags', () => {
    expect(document.servers).toEqual([{ url: '/', description: expect.any(String) }]);
    expect(document.info.license).toEqual({ name: 'Apache-2.0', identifier: 'Apache-2.0' });
    expect(document.tags.map(({ name }) => name)).toEqual(['Users', 'Organisations', 'Probes']);
  });

  it('is omitted if the route has none', () => {
    expect(Object.keys(document.paths)).toEqual(['/things/{id}']);
  });

  it('has the error body for the listed statuses and as the default', () => {
    const { responses = {} } = document.paths['/things/{id}']?.post ?? {};
    expect(Object.keys(responses)).toEqual(['200', '303', '409', 'default']);
    for (const status of ['409', 'default']) {
      expect(responses[status]?.content['application/json']?.schema).toEqual({ $ref: '#/components/schemas/Error' });
    }
  });

  it('has the address of a redirection and its body', () => {
    const { responses = {} } = document.paths['/things/{id}']?.post ?? {};
    expect(responses['303']).toEqual({
      description: 'It is elsewhere.',
      headers: { location: { description: 'Where.', required: true, schema: { type: 'string', format: 'uri' } } },
      content: responses['200']?.content,
    });
  });

  it('names the statuses of the errors that its caller handles', async () => {
    const operations = (await allEndpoints()).flatMap(({ operation: describeIt }) => describeIt?.() ?? []);
    const statuses = operations.map(({ operationId, errors }) => [operationId, ...Object.keys(errors)].join(' '));
    expect(statuses).toEqual([
      ...['removeOtpEmail 400 401 403 404 503', 'listAuthenticationMethodTypes 400 401 403 503'],
      ...['removeOtpEmailBeta 400 401 403 404 503', 'listAuthenticationMethodTypesBeta 400 401 403 503'],
      ...['exportOrganisations 400 401 403 409 413 429 501 503 504', 'deleteExportedObject 400 401 403 404 503'],
      ...['importOrganisations 400 401 403 404 409 413 429 501 503 504', 'deleteUpload 400 401 403 404 503'],
      ...['health', 'readiness 503'],
    ]);
  });

  it('refers to components by their names', () => {
    expect(Object.keys(document.components.schemas).sort()).toEqual(['Error', 'Thing']);
    const { schema } = document.paths['/things/{id}']?.post?.responses['200']?.content['application/json'] ?? {};
    expect(schema).toMatchObject({ properties: { thing: { $ref: '#/components/schemas/Thing' } } });
  });

  it('has no field that only responses could hold', async () => {
    expect(JSON.stringify(document)).not.toContain('readOnly');
    expect(JSON.stringify(openApiDocument(await allEndpoints()))).not.toContain('readOnly');
  });

  it('requires no parameter of a query but the ids of transfers', async () => {
    const { paths } = openApiDocument(await allEndpoints());
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    const required = operations.flatMap(({ parameters = [] }) =>
      parameters.filter((one) => one.in === 'query' && 'required' in one).map(({ name }) => name),
    );
    expect(required).toEqual(['object', 'upload']);
  });

  it('refers only to existing components', async () => {
    const text = JSON.stringify(openApiDocument(await allEndpoints()));
    const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    const { components } = z.object({ components: z.object({ schemas: record }) }).parse(JSON.parse(text));
    expect(new Set(names)).toEqual(new Set(Object.keys(components.schemas)));
    expect(text).not.toMatch(/\$defs|x-message/);
  });
});
