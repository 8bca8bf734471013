import type { JsonSchema } from './jsonSchema.ts';

// An OpenAPI 3.1 document, as far as this service writes it.

/** The document of some endpoints. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly security: readonly { readonly token: readonly string[] }[];
  /** By path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly securitySchemes: object; readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** One method of one path. `responses` are by HTTP status, and `default`. */
export interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: { readonly required: true; readonly content: Readonly<Record<string, MediaTypeObject>> };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** A parameter of the path. */
export interface ParameterObject {
  readonly name: string;
  readonly in: 'path';
  readonly required: true;
  readonly schema: JsonSchema;
  readonly example: string;
}

/** A body of one media type. */
export interface MediaTypeObject {
  readonly schema: JsonSchema;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: object }>>;
}

/** An answer. */
export interface ResponseObject {
  readonly description: string;
  readonly content: Readonly<Record<string, MediaTypeObject>>;
}
