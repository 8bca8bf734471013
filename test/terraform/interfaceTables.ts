/** A variable of a Terraform module. */
export interface Input {
  readonly name: string;
  readonly description: string;
  readonly type: string;
  /** The default as the configuration writes it; `undefined` for a required variable. */
  readonly fallback: string | undefined;
}

/** The blocks of one kind, by name, from a formatted Terraform file. */
function blocks(text: string, kind: 'variable' | 'output'): { readonly name: string; readonly body: string }[] {
  const pattern = new RegExp(`^${kind} "(\\w+)" \\{\\n([\\s\\S]*?)^\\}$`, 'gm');
  return [...text.matchAll(pattern)].map(([, name = '', body = '']) => ({ name, body }));
}

/** An attribute's expression: its line, and the deeper or closing lines that continue it. */
function attribute(body: string, name: string): string | undefined {
  return new RegExp(`^ {2}${name} += (.*(?:\\n(?: {4}| {2}[)}\\]]| {2}EOT$).*)*)`, 'm').exec(body)?.[1];
}

/** The description's lines: one of a quoted string, several of a heredoc. */
function descriptionLines(name: string, body: string): string[] {
  const expression = attribute(body, 'description');
  if (expression === undefined) throw new Error(`${name} has no description`);
  const [, heredoc] = /^<<-EOT\n([\s\S]*)\n {2}EOT$/.exec(expression) ?? [];
  if (heredoc !== undefined) return heredoc.split('\n').map((line) => line.replace(/^ {4}/, ''));
  return [expression.replace(/^"|"$/g, '').replaceAll('\\"', '"')];
}

/** The lines of a heredoc that describe an object's attributes: indented, with the name first. */
const attributeLine = /^ {2}(\w+) {2,}(\S.*)$/;

/** Reads a module's variables in the order of its files. */
export function readInputs(variables: string): Input[] {
  return blocks(variables, 'variable').map(({ name, body }) => ({
    name,
    description: descriptionLines(name, body)
      .filter((line) => !attributeLine.test(line))
      .join(' '),
    type: (attribute(body, 'type') ?? 'any').replace(/\(\{\n[\s\S]*\n {2}\}\)/, '({…})'),
    fallback: attribute(body, 'default'),
  }));
}

const code = (text: string) => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`);
  return lines.join('');
}

/** Renders a module's variables as a Markdown table. */
export function inputsTable(variables: string): string {
  const rows = readInputs(variables).map(({ name, description, type, fallback }) => [
    code(name),
    description,
    code(type),
    fallback === undefined ? 'required' : code(fallback),
  ]);
  return table(['name', 'description', 'type', 'default'], rows);
}

/** Renders a module's outputs as a Markdown table. */
export function outputsTable(outputs: string): string {
  const rows = blocks(outputs, 'output').map(({ name, body }) => [code(name), descriptionLines(name, body).join(' ')]);
  return table(['name', 'description'], rows);
}

/** Renders the attributes that the description of a variable of objects lists. */
export function attributesTable(variables: string, variable: string): string {
  const { body = '' } = blocks(variables, 'variable').find(({ name }) => name === variable) ?? {};
  const defaults = attribute(body, 'type') ?? '';
  const rows = descriptionLines(variable, body).flatMap((line) => {
    const [, name, description] = attributeLine.exec(line) ?? [];
    return name === undefined || description === undefined
      ? []
      : [[code(name), description, defaultOf(defaults, name)]];
  });
  return table(['name', 'description', 'default'], rows);
}

/** The default of an object's attribute; an optional one without a default is null. */
function defaultOf(type: string, name: string): string {
  const [, optional] = new RegExp(`^ +${name} += optional\\((.*)\\)$`, 'm').exec(type) ?? [];
  if (optional === undefined) return 'required';
  // An object's attributes have commas and defaults of their own.
  const [, fallback = 'null'] = /^[^,]*, (.*)$/.exec(optional.replace(/\{.*\}/, '')) ?? [];
  return code(fallback);
}

/** Replaces the table under a heading; throws where there is none. */
export function withTable(markdown: string, heading: string, content: string): string {
  const pattern = new RegExp(`(^## ${heading}\\n\\n(?:[^|#\\n].*\\n+)*)(?:\\|.*\\n)+`, 'm');
  if (!pattern.test(markdown)) throw new Error(`no table under "## ${heading}"`);
  return markdown.replace(pattern, (_, before: string) => `${before}${content}`);
}
