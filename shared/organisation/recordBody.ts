import { hash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../json/jsonObject.ts';
import { reorder, type Section } from './section.ts';

/** A record's canonical JSON and its digest. */
export interface RecordBody {
  readonly body: string;
  /** SHA-256 of `body`, base64url. */
  readonly digest: string;
}

/** Serialises a record's JSON and computes its digest. Must run after every change of the JSON. */
export function serialise(json: JsonObject): RecordBody {
  const body = JSON.stringify(json);
  return { body, digest: hash('sha256', body, 'base64url') };
}

/** Puts the fields that an export has filled in at their places, without which the digest would be another. */
export function restoreFieldOrder({ filledOrder }: Section, json: JsonObject): void {
  if (filledOrder === undefined) return;
  const { inner, fields } = filledOrder;
  const object = inner === undefined ? json : json[inner];
  if (isJsonObject(object)) reorder(object, Object.fromEntries(fields.map((name) => [name, object[name]])));
}
