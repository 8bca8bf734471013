import { isNode, type Syntax, type SyntaxNode } from './syntax.ts';

/** A doc comment's place, first word and subject. */
export interface DocComment {
  readonly line: number;
  readonly opening: string;
  /** Whether the declaration below it names boolean as its type or its function's return type. */
  readonly describesBoolean: boolean;
}

const asking = ['What', 'Whether', 'Where', 'How'];

/** Whether a doc comment opens with a question word; a boolean's "Whether" is the usual form and does not count. */
export function opensAsQuestion({ opening, describesBoolean }: DocComment): boolean {
  return asking.includes(opening) && !(opening === 'Whether' && describesBoolean);
}

/** Finds the doc comments and the declarations below them. */
export function findDocComments(text: string, { nodes, comments }: Syntax): readonly DocComment[] {
  const docs = comments.filter((comment) => comment.text.startsWith('/**'));
  const byStart = Map.groupBy(nodes, ({ node }) => node.start);
  return docs.map((doc) => {
    const described = byStart.get(doc.end + text.slice(doc.end).search(/\S|$/)) ?? [];
    return {
      line: text.slice(0, doc.start).split('\n').length,
      opening: /[\w`']+/.exec(doc.text)?.[0] ?? '',
      describesBoolean: described.some(({ node }) => declaresBoolean(node)),
    };
  });
}

/** Whether a declaration names boolean as its type or return type; inferred types are unknown here. */
function declaresBoolean(node: SyntaxNode): boolean {
  if (Array.isArray(node.declarations)) return node.declarations.filter(isNode).some(declaresBoolean);
  if (isNode(node.id) && declaresBoolean(node.id)) return true;
  const parts = [node.typeAnnotation, node.returnType, node.declaration, node.init, node.value];
  return parts.filter(isNode).some((part) => isBoolean(part) || declaresBoolean(part));
}

function isBoolean(type: SyntaxNode): boolean {
  switch (type.type) {
    case 'TSBooleanKeyword':
    case 'TSTypePredicate':
      return true;
    case 'TSTypeReference':
      return isNode(type.typeName) && type.typeName.name === 'Promise' && typeParameters(type).some(isBoolean);
    case 'TSUnionType':
      return Array.isArray(type.types) && type.types.filter(isNode).some(isBoolean);
    case 'TSLiteralType':
      return isNode(type.literal) && isBoolean(type.literal);
    default:
      return type.type === 'Literal' && typeof type.value === 'boolean';
  }
}

function typeParameters({ typeArguments }: SyntaxNode): readonly SyntaxNode[] {
  if (!isNode(typeArguments) || !Array.isArray(typeArguments.params)) return [];
  return typeArguments.params.filter(isNode);
}
