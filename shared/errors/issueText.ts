// Texts of errors, record errors and warnings: templates with named parameters.

import { shellWord } from '../shellWord.ts';

/** A value of a parameter. A list is joined by commas. */
type Value = string | number | readonly string[];

type BracedIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | BracedIn<Rest>
  : never;

/** The names of parameters. A text may also contain JSON. */
type NamesIn<Text extends string> = Exclude<BracedIn<Text>, `${string}"${string}`>;

type WithoutOptional<Text extends string> = Text extends `${infer Start}[${string}]${infer Rest}`
  ? `${Start}${WithoutOptional<Rest>}`
  : Text;

/** The values of parameters by their names. Absent ones are undefined. */
export type IssueValues = Readonly<Record<string, Value | undefined>>;

/** The parameters of an issue, as responses have them. */
export type IssueParams = Readonly<Record<string, string>>;

/** A row of the catalogue. Its texts are templates: `{limit}` is a parameter, and a part in brackets is left out without it. */
export interface IssueRow {
  readonly text: string;
  /** What to do; requests and the command name their options differently. */
  readonly remedy?: string | { readonly http: string; readonly command: string };
}

type Advice<Row extends IssueRow> = Row['remedy'] extends infer Remedy extends string
  ? Remedy
  : Row['remedy'] extends { readonly http: infer Http extends string; readonly command: infer Command extends string }
    ? `${Http}${Command}`
    : '';
type Template<Row extends IssueRow> = `${Row['text']}${Advice<Row>}`;

/** The parameters of a row. Those in brackets are optional. */
export type ParametersOf<Row extends IssueRow> = {
  readonly [Name in NamesIn<WithoutOptional<Template<Row>>>]: Value;
} & { readonly [Name in NamesIn<Template<Row>>]?: Value | undefined };

/** Who reads a text: the client of an instance, or the user of the command. */
export type Reader = 'http' | 'command';

/** Returns a row's text and remedy, joined by a colon, with parameters. */
export function issueText(row: IssueRow, params: IssueParams, reader: Reader): string {
  return fill(templateText(row, reader), params);
}

/** Returns a row's text and remedy, joined by a colon, without parameters. */
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

/** Fills a template, and leaves out the optional parts that lack a value. The value of an option is a word of a shell. */
function fill(template: string, params: IssueParams): string {
  return template
    .replace(OPTIONAL, (_, part: string) => (lacksParam(part, params) ? '' : part))
    .replace(PARAMETER, (parameter, option: string | undefined, name: string) => {
      const value = params[name];
      if (value === undefined) return parameter;
      return option === undefined ? value : option + shellWord(value);
    });
}

/** Whether an issue has all parameters of a row: another version of the server may send others. */
export function hasParams(row: IssueRow, params: IssueParams): boolean {
  return !lacksParam(issueText(row, {}, 'command'), params);
}

/** Returns parameters as responses have them: texts, without absent ones. */
export function issueParams(values: IssueValues): IssueParams {
  const entries = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, textOf(value)]],
  );
  return Object.fromEntries(entries);
}

function textOf(value: Value): string {
  return typeof value === 'object' ? value.join(', ') : String(value);
}
