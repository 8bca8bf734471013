import { html } from 'hono/html';
import type { JsonSchema } from '../../shared/openapi/jsonSchema.ts';

type Part = boolean | JsonSchema;

/** HTML, all values in it escaped. */
export type Html = ReturnType<typeof html>;

/** A sentence or two, in which what stands between backticks is code. */
export function prose(text = ''): Html {
  const parts = text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
  return html`${parts}`;
}

/** The fields of an object as a table; nothing for other schemas. */
export function fieldTable({ properties = {}, required = [] }: JsonSchema): Html {
  const fields = Object.entries(properties);
  if (fields.length === 0) return html``;
  const rows = fields.map(([name, field]) => fieldRow(name, field, required.includes(name)));
  return html`<table><tr><th>field</th><th>type</th><th>meaning</th></tr>${rows}</table>`;
}

function fieldRow(name: string, field: Part, isRequired: boolean): Html {
  const schema = typeof field === 'boolean' ? {} : field;
  const inner = schema.$ref === undefined ? fieldTable(schema) : html``;
  const fallback = isPlain(schema.default) ? html` Default <code>${JSON.stringify(schema.default)}</code>.` : html``;
  return html`<tr><td><code>${name}</code>${isRequired ? ' *' : ''}</td><td>${typeOf(schema)}</td><td>${prose(schema.description)}${fallback}${inner}</td></tr>`;
}

/** What a value may be, in a few words, with links to what is described elsewhere. */
export function typeOf(part: Part): Html {
  if (typeof part === 'boolean') return html`anything`;
  const { $ref, anyOf, type, enum: values, const: value, items, additionalProperties } = part;
  if ($ref !== undefined) return reference($ref);
  if (anyOf !== undefined && type === undefined) return joined(anyOf.map(typeOf));
  if (values !== undefined) return joined(values.map((one) => html`<code>${JSON.stringify(one)}</code>`));
  if (value !== undefined) return html`<code>${JSON.stringify(value)}</code>`;
  const types = [type ?? 'anything'].flat().map((one) => {
    if (one === 'array' && items !== undefined && !Array.isArray(items)) return html`list of ${typeOf(items)}`;
    if (one !== 'object' || typeof additionalProperties !== 'object') return html`${one}`;
    return additionalProperties.type === undefined ? html`object` : html`object of ${typeOf(additionalProperties)}`;
  });
  return joined(types);
}

function reference(ref: string): Html {
  const name = ref.slice(ref.lastIndexOf('/') + 1);
  return html`<a href="#${name}">${name}</a>`;
}

function joined(parts: readonly Html[]): Html {
  return html`${parts.map((part, index) => html`${index === 0 ? '' : ' or '}${part}`)}`;
}

function isPlain(value: unknown): boolean {
  return typeof value === 'boolean' || (typeof value === 'string' && value !== '');
}
