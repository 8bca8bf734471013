/** A program's call. Arguments may contain `$NAME`, which stands for a value of the run; none is ever a secret. */
export interface Command {
  readonly kind: 'command';
  readonly program: string;
  readonly args: readonly string[];
  /** Variables; a value `@PATH` is the content of the file at `PATH`. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How a request proves its caller: by a token in a file, or by a token made with a key file. */
export type Authorization =
  | { readonly tokenFile: string }
  | { readonly keyFile: string; readonly as: 'exchanged' | 'scope' | 'audience' };

/** A request's body, made when it is sent, and its description. */
export interface Body {
  readonly shown: string;
  readonly create: () => string;
}

/** A request over HTTPS. */
export interface Exchange {
  readonly kind: 'request';
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly authorization?: Authorization;
  readonly body?: Body;
}

/** A file that only its owner can read. */
export interface NewFile {
  readonly kind: 'file';
  readonly path: string;
  readonly shown: string;
  readonly create: (values: Values) => string;
}

/** What a step does: all of it is shown before it is done. */
export type Action = Command | Exchange | NewFile;

/** The values that `$NAME` stands for. */
export type Values = ReadonlyMap<string, string>;

/** Creates a call of a program from its line, split at spaces. */
export function command(line: string, env?: Command['env']): Command {
  const [program = '', ...args] = line.trim().split(/\s+/);
  return { kind: 'command', program, args, ...(env === undefined ? {} : { env }) };
}

/** Creates a call of gcloud in the project that never asks. */
export function gcloud(line: string, ...more: readonly string[]): Command {
  const { program, args } = command(`gcloud ${line} --project=$PROJECT --quiet`);
  return { kind: 'command', program, args: [...args, ...more] };
}

/** Creates a request with a JSON body as the owner of an instance. */
export function post(instance: string, operation: 'export' | 'import', body: Body): Exchange {
  const url = `https://${instance}.$DOMAIN/admin/v1/${operation}`;
  return { kind: 'request', method: 'POST', url, authorization: { tokenFile: `$WORK/${instance}.pat` }, body };
}

/** Creates a small body. */
export function json(content: object): Body {
  const text = JSON.stringify(content);
  return { shown: text, create: () => text };
}

/**
 * Replaces each `$NAME` by its value; a name without one stays.
 * @param names which names to replace, by default all
 */
export function fill(template: string, values: Values): string {
  return template.replace(/\$([A-Z_]+)/g, (name, key: string) => values.get(key) ?? name);
}

/** Describes an action in one line: a command as a shell takes it. */
export function show(action: Action, values: Values): string {
  if (action.kind !== 'command') return fill(describe(action), values);
  const variables = Object.entries(action.env ?? {});
  const env = variables.map(([name, value]) => `${name}=${showValue(fill(value, values))} `).join('');
  return `${env}${[action.program, ...action.args].map((word) => quote(fill(word, values))).join(' ')}`;
}

function describe(action: Exchange | NewFile): string {
  if (action.kind === 'file') return `# write ${action.path}: ${action.shown}`;
  const { method, url, authorization, body } = action;
  const caller = authorization === undefined ? '' : ` as ${describeCaller(authorization)}`;
  return `# ${method} ${url}${caller}${body === undefined ? '' : `: ${body.shown}`}`;
}

function describeCaller(authorization: Authorization): string {
  if ('tokenFile' in authorization) return authorization.tokenFile;
  const kinds = { exchanged: 'exchanged token', scope: 'JWT with a scope', audience: 'JWT with an audience' };
  return `${authorization.keyFile}, ${kinds[authorization.as]}`;
}

function showValue(value: string): string {
  return value.startsWith('@') ? `"$(cat ${value.slice(1)})"` : quote(value);
}

/** Quotes a word, but for the `$` of a name that has no value yet. */
function quote(word: string): string {
  if (/^[\w./:=@,$+-]+$/.test(word)) return word;
  return word.includes('$') ? `"${word.replace(/["\\`]/g, '\\$&')}"` : `'${word.replaceAll("'", "'\\''")}'`;
}
