import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path/posix';
import { type DocComment, findDocComments } from './docComments.ts';
import { isNode, overwrite, parse, type Syntax, type SyntaxNode } from './syntax.ts';

/** The folders of the product's own files. */
const folders = ['functions', 'shared', 'cli', 'local', 'build', 'bench', 'tools'];

/** An import of another file of the repository. */
interface LocalImport {
  /** Path from the repository's root. */
  readonly target: string;
  /** False for `import()`, which is no statement. */
  readonly isStatement: boolean;
}

/** A function or constant by its name. */
export interface Declared {
  readonly name: string;
  readonly exported: boolean;
}

/** The structure of one of the product's files. */
export interface Source {
  /** Path from the repository's root. */
  readonly path: string;
  readonly lines: number;
  /** Lines that are neither blank nor comment. */
  readonly codeLines: number;
  readonly imports: readonly LocalImport[];
  /** The lines of each function, method and arrow function. */
  readonly functionLines: readonly number[];
  readonly declared: readonly Declared[];
  readonly docComments: readonly DocComment[];
}

/** Reads the product's own TypeScript files below a directory, in the order of their paths. */
export async function readSources(root: string): Promise<readonly Source[]> {
  const paths = globSync(`{${folders.join(',')}}/**/*.ts`, { cwd: root });
  const read = async (path: string) => parseSource(path, await readFile(join(root, path), 'utf8'));
  return await Promise.all(paths.sort().map(read));
}

/** Parses one file; `path` starts at the repository's root. */
export function parseSource(path: string, text: string): Source {
  const syntax = parse(text);
  const code = overwrite(text, syntax.comments, ' ');
  return {
    path,
    lines: countLines(text.trimEnd()),
    codeLines: code.split('\n').filter((line) => line.trim() !== '').length,
    imports: findLocalImports(path, syntax),
    functionLines: findFunctions(syntax).map(({ node }) => countLines(text.slice(node.start, node.end))),
    declared: findDeclared(syntax),
    docComments: findDocComments(text, syntax),
  };
}

function countLines(text: string): number {
  return text.split('\n').length;
}

const importing = ['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration', 'ImportExpression'];

function findLocalImports(path: string, { nodes }: Syntax): readonly LocalImport[] {
  return nodes.flatMap(({ node: { type, source } }) => {
    if (!importing.includes(type) || !isNode(source)) return [];
    const specifier = source.value;
    if (typeof specifier !== 'string' || !/^\.{1,2}\/.*\.ts$/.test(specifier)) return [];
    return { target: join(dirname(path), specifier), isStatement: type !== 'ImportExpression' };
  });
}

const functionTypes = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];

function findFunctions({ nodes }: Syntax): Syntax['nodes'] {
  return nodes.filter(({ node }) => functionTypes.includes(node.type));
}

/** Finds functions, methods and constants at any depth. */
function findDeclared({ nodes }: Syntax): readonly Declared[] {
  const exported = new Set(
    nodes.flatMap(({ node }) => (node.type === 'ExportNamedDeclaration' ? [node.declaration] : [])),
  );
  return nodes.flatMap(({ node, parent }) => {
    const name = declaredName(node);
    if (name === undefined) return [];
    return { name, exported: exported.has(node) || (parent !== undefined && exported.has(parent)) };
  });
}

const named = ['FunctionDeclaration', 'VariableDeclarator', 'MethodDefinition', 'PropertyDefinition'];

function declaredName(node: SyntaxNode): string | undefined {
  if (!named.includes(node.type)) return undefined;
  const name = node.id ?? node.key;
  return isNode(name) && typeof name.name === 'string' ? name.name : undefined;
}
