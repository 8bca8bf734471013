// Writes the tables of the Terraform configuration's variables and outputs. Reads them from the texts of the formatted
// files.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../program.ts';

const directory = join(root, 'terraform');
const code = (text: string) => `\`${text}\``;

function read(prefix: string): string {
  const names = readdirSync(directory).filter((name) => name.startsWith(prefix) && name.endsWith('.tf'));
  return names
    .toSorted()
    .map((name) => readFileSync(join(directory, name), 'utf8'))
    .join('\n');
}

interface Block {
  readonly name: string;
  readonly body: string;
}

function blocks(text: string, kind: 'variable' | 'output'): Block[] {
  const pattern = new RegExp(`^${kind} "(\\w+)" \\{\\n([\\s\\S]*?)^\\}$`, 'gm');
  return [...text.matchAll(pattern)].map(([, name = '', body = '']) => ({ name, body }));
}

/**
 * Returns the expression of an attribute. It may continue in the following lines if they are indented more deeply, or
 * begin with a closing bracket.
 */
function attribute(body: string, name: string): string | undefined {
  return new RegExp(`^ {2}${name} += (.*(?:\\n(?: {4}| {2}[)}\\]]| {2}EOT$).*)*)`, 'm').exec(body)?.[1];
}

function descriptionLines({ name, body }: Block): string[] {
  const expression = attribute(body, 'description');
  if (expression === undefined) throw new Error(`${name} in terraform/ has no description`);
  const [, heredoc] = /^<<-EOT\n([\s\S]*)\n {2}EOT$/.exec(expression) ?? [];
  if (heredoc !== undefined) return heredoc.split('\n').map((line) => line.replace(/^ {4}/, ''));
  return [expression.replace(/^"|"$/g, '').replaceAll('\\"', '"')];
}

/** Matches a line of a heredoc that describes one attribute of an object. */
const attributeLine = /^ {2}(\w+) {2,}(\S.*)$/;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export function inputsTable(): string {
  const rows = blocks(read('variables'), 'variable').map((variable) => {
    const description = descriptionLines(variable).filter((line) => !attributeLine.test(line));
    const fallback = attribute(variable.body, 'default');
    return [code(variable.name), description.join(' '), fallback === undefined ? 'required' : code(fallback)];
  });
  return table(['name', 'description', 'default'], rows);
}

export function outputsTable(): string {
  const rows = blocks(read('outputs'), 'output').map((output) => [
    code(output.name),
    descriptionLines(output).join(' '),
  ]);
  return table(['name', 'description'], rows);
}

export function settingsTable(): string {
  const [instances] = blocks(read('variables_instances'), 'variable');
  if (instances === undefined) throw new Error('terraform/ has no variable instances');
  const types = attribute(instances.body, 'type') ?? '';
  const rows = descriptionLines(instances).flatMap((line) => {
    const [, name = '', description = ''] = attributeLine.exec(line) ?? [];
    return name === '' ? [] : [[code(name), description, defaultOf(types, name)]];
  });
  return table(['name', 'description', 'default'], rows);
}

/** Returns the default of an attribute, which is null for an optional attribute without a default. */
function defaultOf(type: string, name: string): string {
  const [, optional] = new RegExp(`^ +${name} += optional\\((.*)\\)$`, 'm').exec(type) ?? [];
  if (optional === undefined) return 'required';
  // The type may contain commas too, so match its parentheses.
  const [, fallback = 'null'] = /^(?:\w+|\w+\(.*\)), (.*)$/.exec(optional) ?? [];
  return code(fallback);
}
