import { isNode, type Syntax, type SyntaxNode } from './syntax.ts';

/** A doc comment by its first word. */
export interface DocComment {
  readonly line: number;
  readonly opening: string;
  /** Whether the declared type of what it describes is boolean, or that of the function's result. */
  readonly ofBoolean: boolean;
}

const asking = ['What', 'Whether', 'Where', 'How'];

/** Whether a doc comment opens as a question does; a boolean's "Whether" is the usual form. */
export function opensAsQuestion({ opening, ofBoolean }: DocComment): boolean {
  return asking.includes(opening) && !(opening === 'Whether' && ofBoolean);
}

/** Finds the doc comments, each with what is known of the declaration below it. */
export function findDocComments(text: string, { nodes, comments }: Syntax): readonly DocComment[] {
  const docs = comments.filter((comment) => comment.text.startsWith('/**'));
  return docs.map((doc) => {
    const next = doc.end + text.slice(doc.end).search(/\S|$/);
    const described = nodes.filter(({ node }) => node.start === next).map(({ node }) => node);
    return {
      line: text.slice(0, doc.start).split('\n').length,
      opening: /[\w`']+/.exec(doc.text)?.[0] ?? '',
      ofBoolean: described.some(declaresBoolean),
    };
  });
}

/** Whether a declaration says that it is of a boolean; one whose type is inferred does not. */
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
    default:
      return type.type === 'Literal' && typeof type.value === 'boolean';
  }
}

function typeParameters({ typeArguments }: SyntaxNode): readonly SyntaxNode[] {
  if (!isNode(typeArguments) || !Array.isArray(typeArguments.params)) return [];
  return typeArguments.params.filter(isNode);
}
