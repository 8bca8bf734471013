import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Answer } from './answer.ts';
import type { Expected, ExpectedBody } from './row.ts';
import { withoutAdditions } from './withoutAdditions.ts';

const SHOWN_CHARACTERS = 600;

const errorBody = z.strictObject({
  code: z.int(),
  message: z.string().min(1),
  details: z.array(z.looseObject({ '@type': z.string() })).optional(),
});

/** What is not as expected in an answer, in one line each; nothing where all is. */
export function differences(answer: Answer, { status, headers = {}, body }: Expected): string[] {
  const found = answer.status === status ? [] : [`status ${answer.status} instead of ${status}`];
  for (const [name, value] of Object.entries(headers)) {
    const got = answer.headers[name];
    if (got !== value) found.push(`${name}: ${String(got)} instead of ${value}`);
  }
  if (!bodyFits(answer.text, body)) found.push(`body ${shown(answer.text)} instead of ${wanted(body)}`);
  return body.kind === 'error' ? [...found, ...errorFaults(answer)] : found;
}

function bodyFits(text: string, body: ExpectedBody): boolean {
  if (body.kind === 'text') return text === body.text;
  const json = parsed(text);
  switch (body.kind) {
    case 'equals':
      return isDeepStrictEqual(withoutAdditions(json), withoutAdditions(body.json));
    case 'includes':
      return includes(json, body.json);
    case 'error': {
      const error = errorBody.safeParse(json);
      return error.success && error.data.code === body.code && body.message.test(error.data.message);
    }
  }
}

/** What holds for every error (zitadel 6.4): JSON, its id in the details too, and 401 says why in a header. */
function errorFaults({ status, headers, text }: Answer): string[] {
  const error = errorBody.safeParse(parsed(text));
  if (!error.success) return [];
  const { message, details = [] } = error.data;
  const [, words, id] = /^(.*) \(([A-Z][A-Za-z]*-\w+)\)$/.exec(message) ?? [];
  const detail = { '@type': 'type.googleapis.com/zitadel.v1.ErrorDetail', id, message: words };
  return [
    ...(headers['content-type'] === 'application/json' ? [] : [`content-type ${String(headers['content-type'])}`]),
    ...(id === undefined || details.some((got) => isDeepStrictEqual(got, detail))
      ? []
      : [`no detail with the id ${id}`]),
    ...(status !== 401 || headers['www-authenticate'] === message ? [] : ['no www-authenticate with the message']),
  ];
}

// Go's protobuf writes a no-break space in some builds and a space in others, so that nobody compares its messages.
function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replaceAll('\u00a0', ' '));
  } catch {
    return undefined;
  }
}

function includes(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(value) && value.length === wanted.length && wanted.every((part, i) => includes(value[i], part))
    );
  }
  if (wanted instanceof RegExp) return typeof value === 'string' && wanted.test(value);
  if (!isJsonObject(wanted)) return value === wanted;
  if (!isJsonObject(value)) return false;
  return Object.entries(wanted).every(([name, part]) =>
    part === undefined ? !(name in value) : includes(value[name], part),
  );
}

function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

function wanted(body: ExpectedBody): string {
  if (body.kind === 'text') return JSON.stringify(body.text);
  if (body.kind === 'error') return `code ${body.code} and a message like ${body.message}`;
  return shown(JSON.stringify(body.json, (_name, value) => readable(value)));
}

function readable(value: unknown): unknown {
  if (value === undefined) return 'nothing';
  return value instanceof RegExp ? String(value) : value;
}
