import type { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { errorBody } from '../errors/identityError.ts';
import type { Endpoint, Operation, Parameters } from './endpoint.ts';
import { type JsonSchema, mapSchemas, requestSchema, responseSchema } from './jsonSchema.ts';

// The types cover the parts of OpenAPI 3.1 that this service uses.

/** An OpenAPI document. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly security: readonly { readonly token: readonly string[] }[];
  /** By path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly securitySchemes: object; readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** One method of one path. The keys of `responses` are HTTP statuses and `default`. */
interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  /** Empty where no token is needed. */
  readonly security?: readonly [];
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: { readonly required: true; readonly content: Readonly<Record<string, MediaTypeObject>> };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** A parameter of the path or the query. */
interface ParameterObject {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly example: string | boolean;
}

/** A body of one media type. */
interface MediaTypeObject {
  readonly schema: JsonSchema;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: object }>>;
}

/** A response. */
interface ResponseObject {
  readonly description: string;
  readonly content: Readonly<Record<string, MediaTypeObject>>;
}

type Schemas = Record<string, JsonSchema>;

const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'A personal access token; create one with `identity pat create`.',
  },
};

/** Describes endpoints as an OpenAPI document; skips those without an operation. */
export function openApiDocument(endpoints: readonly Endpoint[]): OpenApiDocument {
  const schemas: Schemas = {};
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const { path, method, operation } of endpoints) {
    if (operation === undefined) continue;
    const template = path.replace(/:(\w+)/g, '{$1}');
    paths[template] = { ...paths[template], [method.toLowerCase()]: describe(operation(), schemas) };
  }
  const { version, description } = packageJson;
  return {
    openapi: '3.1.1',
    info: { title: 'Identity', version, description },
    security: [{ token: [] }],
    paths,
    components: { securitySchemes, schemas },
  };
}

function describe(operation: Operation, schemas: Schemas): OperationObject {
  const { operationId, summary, description, deprecated, isPublic } = operation;
  const { parameters, query, request, response, errors } = operation;
  const parameterObjects = [...describeParameters('path', parameters), ...describeParameters('query', query)];
  const errorEntries = Object.entries({ ...errors, default: 'Any other error.' });
  return {
    operationId,
    summary,
    description,
    ...(deprecated === undefined ? {} : { deprecated }),
    ...(isPublic === true ? { security: [] } : {}),
    ...(parameterObjects.length === 0 ? {} : { parameters: parameterObjects }),
    ...(request === undefined ? {} : { requestBody: { required: true, content: describeRequest(request, schemas) } }),
    responses: {
      200: describeResponse(response, schemas),
      ...Object.fromEntries(
        errorEntries.map(([status, text]) => [
          status,
          describeResponse({ description: text, contract: errorBody }, schemas),
        ]),
      ),
    },
  };
}

function describeParameters(place: ParameterObject['in'], parameters: Parameters = {}): readonly ParameterObject[] {
  return Object.entries(parameters).map(([name, { contract, example }]) => {
    return { name, in: place, required: place === 'path', schema: requestSchema(contract), example };
  });
}

function describeRequest({ schema, examples }: NonNullable<Operation['request']>, schemas: Schemas) {
  const numbered = Object.entries(examples).map(
    ([summary, value], index) => [`example${index + 1}`, { summary, value }] as const,
  );
  return json({ schema: hoist(schema, schemas), examples: Object.fromEntries(numbered) });
}

function describeResponse(
  { description, contract, others = {} }: Operation['response'],
  schemas: Schemas,
): ResponseObject {
  const describeBody = (body: z.ZodType): MediaTypeObject => ({ schema: hoist(responseSchema(body), schemas) });
  const more = Object.entries(others).map(([type, body]) => [type, describeBody(body)] as const);
  return { description, content: { ...json(describeBody(contract)), ...Object.fromEntries(more) } };
}

function json(body: MediaTypeObject): Record<string, MediaTypeObject> {
  return { 'application/json': body };
}

/** Moves a schema's `$defs` to the document's components, where every schema can refer to them. */
function hoist(schema: JsonSchema, schemas: Schemas): JsonSchema {
  const { $defs = {}, ...root } = mapSchemas(schema, ({ $ref, ...rest }) =>
    $ref === undefined ? rest : { ...rest, $ref: $ref.replace('#/$defs/', '#/components/schemas/') },
  );
  Object.assign(schemas, $defs);
  return root;
}
