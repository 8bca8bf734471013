// Texts of errors, record errors and warnings: templates with named parameters.

import { shellWord } from '../shellWord.ts';

/** A parameter's value. In the text, commas separate the elements of a list. */
type Value = string | number | readonly string[];

type BracedIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | BracedIn<Rest>
  : never;

/** The names of the parameters in a text. Any other text in braces, such as JSON, is not a parameter. */
type NamesIn<Text extends string> = Exclude<BracedIn<Text>, `${string}"${string}`>;

type WithoutOptional<Text extends string> = Text extends `${infer Start}[${string}]${infer Rest}`
  ? `${Start}${WithoutOptional<Rest>}`
  : Text;

/** The values of parameters by their names; an absent parameter is undefined. */
export type IssueValues = Readonly<Record<string, Value | undefined>>;

/** The parameters of an error or a warning in a response. */
export type IssueParams = Readonly<Record<string, string>>;

/**
 * The text of an error or a warning. It is a template: `{limit}` is a parameter, and a part in brackets is omitted if
 * its parameter has no value.
 */
export interface IssueRow {
  readonly text: string;
  /**
   * What the reader can do. Two texts are needed if a field of the request and an option of the command have different
   * names.
   */
  readonly remedy?: string | { readonly http: string; readonly command: string };
}

type Advice<Row extends IssueRow> = Row['remedy'] extends infer Remedy extends string
  ? Remedy
  : Row['remedy'] extends { readonly http: infer Http extends string; readonly command: infer Command extends string }
    ? `${Http}${Command}`
    : '';
type Template<Row extends IssueRow> = `${Row['text']}${Advice<Row>}`;

/** The parameters of a row. Parameters in brackets are optional. */
export type ParametersOf<Row extends IssueRow> = {
  readonly [Name in NamesIn<WithoutOptional<Template<Row>>>]: Value;
} & { readonly [Name in NamesIn<Template<Row>>]?: Value | undefined };

/** The reader of a text: the client of an instance, or the user of the command. */
export type Reader = 'http' | 'command';

/** Returns a row's text and remedy, joined with a colon, after inserting the parameters' values. */
export function issueText(row: IssueRow, params: IssueParams, reader: Reader): string {
  return fill(templateText(row, reader), params);
}

/** Returns a row's text and remedy, joined with a colon, as templates. */
export function templateText({ text, remedy }: IssueRow, reader: Reader): string {
  const advice = typeof remedy === 'object' ? remedy[reader] : remedy;
  return advice === undefined ? text : `${text}: ${advice}`;
}

const OPTIONAL = /\[([^\]]*\{\w+\}[^\]]*)\]/g;
const PARAMETER = /(--[a-z-]+ )?\{(\w+)\}/g;

/** Whether a template has a parameter without a value. */
function lacksParam(template: string, params: IssueParams): boolean {
  return template.matchAll(PARAMETER).some(([, , name = '']) => params[name] === undefined);
}

/**
 * Fills a template, and omits the optional parts whose parameters have no value. Quotes the value of a command option,
 * such as `--org {orgId}`, for a shell.
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

/** Whether a server's error has all parameters of a row. A server of another version may send other parameters. */
export function hasParams(row: IssueRow, params: IssueParams): boolean {
  return !lacksParam(issueText(row, {}, 'command'), params);
}

/** Converts the values of parameters to texts, for responses. Omits undefined values. */
export function issueParams(values: IssueValues): IssueParams {
  const entries = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, textOf(value)]],
  );
  return Object.fromEntries(entries);
}

function textOf(value: Value): string {
  return typeof value === 'object' ? value.join(', ') : String(value);
}
