import type { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { defined, withoutEmpty } from '../defined.ts';
import { errorBody } from '../errors/identityError.ts';
import type { StatedLimits } from '../limits.ts';
import { type Endpoint, type OperationDescription, type ResponseDescription, tags } from './endpoint.ts';
import { type JsonSchema, mapSchemas, requestSchema, responseSchema } from './jsonSchema.ts';

type Schemas = Record<string, JsonSchema>;

const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'A personal access token; create one with `identity pat create`.',
  },
};

export function openApiDocument(endpoints: readonly Endpoint[], limits: StatedLimits = {}) {
  const schemas: Schemas = {};
  const paths: Record<string, Record<string, ReturnType<typeof describeOperation>>> = {};
  for (const { path, method, operation } of endpoints) {
    if (operation === undefined) continue;
    const template = path.replace(/:(\w+)/g, '{$1}');
    paths[template] = { ...paths[template], [method.toLowerCase()]: describeOperation(operation(), schemas) };
  }
  const { version, description, license } = packageJson;
  return {
    openapi: '3.1.1',
    info: { title: 'Identity', version, description, license: { name: license, identifier: license } },
    // A reader of the document resolves this relative URL against the address of the document.
    servers: [{ url: '/', description: 'The instance that serves this document.' }],
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    security: [{ token: [] }],
    'x-limits': limits,
    paths,
    components: { securitySchemes, schemas },
  };
}

function describeOperation(operation: OperationDescription, schemas: Schemas) {
  const { operationId, tag, summary, description, deprecated, isPublic } = operation;
  const { parameters = {}, query = {}, request, response, redirect, errors } = operation;
  const parameterObjects = [
    ...Object.entries(parameters).map(([name, { contract, example }]) => {
      return { name, in: 'path', required: true, ...describeParameter(contract), example };
    }),
    ...Object.entries(query).map(([name, contract]) => {
      const required = contract.safeParse(undefined).success ? {} : { required: true };
      return { name, in: 'query', ...required, ...describeParameter(contract) };
    }),
  ];
  const failures = Object.entries({ ...errors, default: 'Any other error.' }).map(
    ([status, text]) => [status, { description: text, contract: errorBody }] as const,
  );
  const redirects = redirect === undefined ? [] : [['303', redirect] as const];
  const responses = [['200', response] as const, ...redirects, ...failures];
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    ...defined({ deprecated }),
    ...(isPublic === true ? { security: [] } : {}),
    ...withoutEmpty({ parameters: parameterObjects }),
    ...(request === undefined
      ? {}
      : { requestBody: { required: true, content: describeRequestBody(request, schemas) } }),
    responses: Object.fromEntries(responses.map(([status, response]) => [status, describeResponse(response, schemas)])),
  };
}

function describeParameter(contract: z.ZodType) {
  // Omit the parameter's default. Otherwise documentation pages would send the parameter with each request.
  const { description, default: _unsent, ...schema } = requestSchema(contract);
  return { description, schema };
}

function describeRequestBody(
  { schema, examples, others = {} }: NonNullable<OperationDescription['request']>,
  schemas: Schemas,
) {
  const numbered = Object.entries(examples).map(
    ([summary, value], index) => [`example${index + 1}`, { summary, value }] as const,
  );
  return {
    'application/json': { schema: hoist(schema, schemas), examples: Object.fromEntries(numbered) },
    ...Object.fromEntries(Object.entries(others).map(([type, body]) => [type, { schema: body }])),
  };
}

function describeResponse({ description, contract, others = {}, location }: ResponseDescription, schemas: Schemas) {
  const bodies = Object.entries({ 'application/json': contract, ...others });
  const content = bodies.map(([type, body]) => [type, { schema: hoist(responseSchema(body), schemas) }] as const);
  const address = { description: location, required: true, schema: { type: 'string', format: 'uri' } };
  const headers = location === undefined ? {} : { headers: { location: address } };
  return { description, ...headers, content: Object.fromEntries(content) };
}

function hoist(schema: JsonSchema, schemas: Schemas): JsonSchema {
  const { $defs = {}, ...root } = mapSchemas(schema, ({ $ref, ...rest }) =>
    $ref === undefined ? rest : { ...rest, $ref: $ref.replace('#/$defs/', '#/components/schemas/') },
  );
  Object.assign(schemas, $defs);
  return root;
}
