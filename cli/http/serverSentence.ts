// The sentence in a response by which a server, or a gateway in front of it, explains a status.

import { shortenedText } from '../../shared/errors/identityError.ts';
import { isJsonObject, type JsonObject, parseIfJson } from '../../shared/json/jsonObject.ts';

const MAX_CHARACTERS = 300;
/** The start of a page that contains its title. */
const START_CHARACTERS = 4_000;

/** The names of the fields with the sentence, in responses of services and gateways. */
const fields = ['message', 'error_description', 'detail', 'error', 'title'];

/**
 * Returns the sentence in a response: a field of a JSON object, the title of a page, or the beginning of another text.
 * @returns an empty text for a response without content
 */
export function sentenceIn(text: string): string {
  const json = parseIfJson(text);
  const sentence = (isJsonObject(json) ? fieldOf(json) : titleOf(text.slice(0, START_CHARACTERS))) ?? text;
  return shortenedText(sentence.slice(0, START_CHARACTERS).replaceAll(/\s+/g, ' ').trim(), MAX_CHARACTERS);
}

function fieldOf(json: JsonObject): string | undefined {
  const { error } = json;
  const values = [...fields.map((field) => json[field]), ...(isJsonObject(error) ? [error.message] : [])];
  return values.find((value) => typeof value === 'string' && value !== '')?.toString();
}

function titleOf(page: string): string | undefined {
  if (!/^\s*</.test(page)) return undefined;
  return /<title\b[^<>]*>([^<]*)/i.exec(page)?.[1] ?? /<h1\b[^<>]*>([^<]*)/i.exec(page)?.[1] ?? '';
}
