import { decode } from 'html-entities';
import { shortenedText } from '../../shared/errors/identityError.ts';
import { isJsonObject, type JsonObject, parseIfJson } from '../../shared/json/jsonObject.ts';

const MAX_CHARACTERS = 300;
/** The title of a page must begin within this number of characters. */
const START_CHARACTERS = 16_000;

/** The JSON fields, in lower case, in which services and gateways describe an error. */
const fields = ['message', 'error_description', 'detail', 'error', 'title', 'msg'];

/**
 * The elements of HTML and XML in which servers describe an error. In a truncated page, an element may have no end tag.
 */
const elements = [
  /<title\b[^<>]*>(.*?)(?:<\/title\b|$)/is,
  /<h1\b[^<>]*>(.*?)(?:<\/h1\b|$)/is,
  /<message\b[^<>]*>(.*?)(?:<\/message\b|$)/is,
];

/** Parts of an HTML page that a browser does not show as text. */
const hidden = /<!--(?:[^-]|-(?!->))*|<(?:script|style)\b(?:[^<]|<(?!\/))*/gi;

/**
 * Returns the sentence with which a response explains its status: a field of a JSON object, the title of a page, or the
 * beginning of another text.
 * @returns an empty text if the response has no content
 */
export function sentenceIn(text: string): string {
  const json = parseIfJson(text);
  const [object] = Array.isArray(json) ? json : [json];
  const sentence = (isJsonObject(object) ? fieldOf(object) : titleOf(text.slice(0, START_CHARACTERS))) ?? text;
  return shortenedText(plainText(sentence.slice(0, START_CHARACTERS)), MAX_CHARACTERS);
}

function fieldOf(json: JsonObject): string | undefined {
  const { error, errors } = json;
  const nested = [error, ...(Array.isArray(errors) ? errors : [])];
  return [json, ...nested].map((value) => (isJsonObject(value) ? textField(value) : value)).find(isSentence);
}

function textField(json: JsonObject): string | undefined {
  const values = new Map(Object.entries(json).map(([name, value]) => [name.toLowerCase(), value]));
  return fields.map((field) => values.get(field)).find(isSentence);
}

function isSentence(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function titleOf(page: string): string | undefined {
  if (!/^\s*</.test(page)) return undefined;
  const content = page.replaceAll(hidden, ' ');
  const texts = elements.map((element) => (element.exec(content)?.[1] ?? '').replaceAll(/<[^<>]*>/g, ' '));
  return texts.map((text) => plainText(decode(text))).find(isSentence) ?? '';
}

function plainText(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
