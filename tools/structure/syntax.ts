import { parseAst } from 'vitest/node';

/** A node of the syntax tree, as ESTree and typescript-eslint name them. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** A comment with its delimiters. */
interface Comment {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A parsed TypeScript file: all of its nodes with their parents, outer ones first, and its comments. */
export interface Syntax {
  readonly nodes: readonly { readonly node: SyntaxNode; readonly parent: SyntaxNode | undefined }[];
  readonly comments: readonly Comment[];
}

/** Parses the text of a TypeScript file. */
export function parse(text: string): Syntax {
  // TypeScript 7 offers no stable parser to programs; the test runner's reads TypeScript too.
  const nodes = [...descendants(parseAst(text, { lang: 'ts' }), undefined)];
  return { nodes, comments: findComments(text, nodes) };
}

/** Whether a field's value is a node. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function* descendants(value: unknown, parent: SyntaxNode | undefined): Generator<Syntax['nodes'][number]> {
  if (Array.isArray(value)) {
    for (const item of value) yield* descendants(item, parent);
  } else if (isNode(value)) {
    yield { node: value, parent };
    for (const field of Object.values(value)) yield* descendants(field, value);
  }
}

/** Finds the comments, ignoring their delimiters inside strings, templates and regular expressions. */
function findComments(text: string, nodes: Syntax['nodes']): readonly Comment[] {
  const literals = nodes.map(({ node }) => node).filter(({ type }) => type === 'Literal' || type === 'TemplateElement');
  const found = overwrite(text, literals, 'x').matchAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g);
  return Array.from(found, ({ 0: { length }, index: start }) => {
    const end = start + length;
    return { text: text.slice(start, end), start, end };
  });
}

/** Overwrites the spans except for line breaks, so that all positions stay. */
export function overwrite(text: string, spans: readonly { start: number; end: number }[], blank: string): string {
  const inOrder = spans.toSorted((a, b) => a.start - b.start);
  let result = '';
  for (const { start, end } of inOrder) {
    result += text.slice(result.length, start);
    result += text.slice(result.length, end).replaceAll(/[^\n]/g, blank);
  }
  return result + text.slice(result.length);
}
