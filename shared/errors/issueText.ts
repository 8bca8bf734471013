import { shellWord } from '../shellWord.ts';

type Value = string | number | readonly string[];

type BracedIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | BracedIn<Rest>
  : never;

/** The parameter names in a template. Braces around a text with quotation marks, such as JSON, are not parameters. */
type NamesIn<Text extends string> = Exclude<BracedIn<Text>, `${string}"${string}`>;

type WithoutOptional<Text extends string> = Text extends `${infer Start}[${string}]${infer Rest}`
  ? `${Start}${WithoutOptional<Rest>}`
  : Text;

export type IssueValues = Readonly<Record<string, Value | undefined>>;

export type IssueParams = Readonly<Record<string, string>>;

/**
 * The text of an error or a warning, as a template. `{limit}` is a parameter. A part in square brackets is omitted if a
 * parameter in it has no value.
 */
export interface IssueRow {
  readonly text: string;
  /**
   * What the reader can do about the problem. The remedy consists of two texts if a request's field and the command's
   * option have different names.
   */
  readonly remedy?: string | { readonly http: string; readonly command: string };
}

type Advice<Row extends IssueRow> = Row['remedy'] extends infer Remedy extends string
  ? Remedy
  : Row['remedy'] extends { readonly http: infer Http extends string; readonly command: infer Command extends string }
    ? `${Http}${Command}`
    : '';
type Template<Row extends IssueRow> = `${Row['text']}${Advice<Row>}`;

/** A parameter is optional if it occurs only in square brackets. */
export type ParametersOf<Row extends IssueRow> = {
  readonly [Name in NamesIn<WithoutOptional<Template<Row>>>]: Value;
} & { readonly [Name in NamesIn<Template<Row>>]?: Value | undefined };

/** The reader of a text: the client of an instance, or the user of the `identity` command. */
export type Reader = 'http' | 'command';

export function issueText(row: IssueRow, params: IssueParams, reader: Reader): string {
  return fill(templateText(row, reader), params);
}

export function templateText({ text, remedy }: IssueRow, reader: Reader): string {
  const advice = typeof remedy === 'object' ? remedy[reader] : remedy;
  return advice === undefined ? text : `${text}: ${advice}`;
}

const OPTIONAL = /\[([^\]]*\{\w+\}[^\]]*)\]/g;
const PARAMETER = /(--[a-z-]+ )?\{(\w+)\}/g;

function lacksParam(template: string, params: IssueParams): boolean {
  return template.matchAll(PARAMETER).some(([, , name = '']) => params[name] === undefined);
}

/**
 * Replaces the parameters of a template by their values. If a parameter follows an option, as in `--org {orgId}`,
 * quotes its value for a shell.
 */
function fill(template: string, params: IssueParams): string {
  return template
    .replace(OPTIONAL, (_, part: string) => (lacksParam(part, params) ? '' : part))
    .replace(PARAMETER, (parameter, option: string | undefined, name: string) => {
      const value = params[name];
      if (value === undefined) return parameter;
      return option === undefined ? value : option + shellWord(value);
    });
}

/**
 * Returns whether a server's error has all parameters that a row's template requires. A server of another version may
 * send other parameters.
 */
export function hasParams(row: IssueRow, params: IssueParams): boolean {
  return !lacksParam(issueText(row, {}, 'command'), params);
}

export function issueParams(values: IssueValues): IssueParams {
  const entries = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, textOf(value)]],
  );
  return Object.fromEntries(entries);
}

function textOf(value: Value): string {
  return typeof value === 'object' ? value.join(', ') : String(value);
}
