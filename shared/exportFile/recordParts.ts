// Removes invalid parts from a record of an export file.

import { shortenedText } from '../errors/identityError.ts';
import { isJsonObject } from '../json/jsonObject.ts';
import { snakeCase } from '../json/spelling.ts';
import { fixedLimits } from '../limits.ts';
import type { InvalidRecordError } from '../organisation/message.ts';
import { optionalPart } from '../organisation/optionalParts.ts';
import type { InvalidElement } from '../organisation/record.ts';
import type { Section } from '../organisation/sections/section.ts';

/** The maximum number of characters of a reason, which may quote a value. */
export const MAX_REASON_CHARACTERS = 300;

/** The maximum number of characters of a quoted value. */
const MAX_VALUE_CHARACTERS = 60;

/** The paths of secrets, which no report may quote. */
const SECRET = /password|secret|otpCode/i;

/** A field or an element of a list, and the object or list that contains it. */
interface Place {
  readonly holder: object;
  readonly name: string;
}

/** A record's JSON, from which invalid parts can be removed. */
export class RecordParts {
  readonly value: unknown;
  /** The original positions of the elements of changed lists. */
  private readonly positions = new Map<unknown[], number[]>();

  constructor(value: unknown) {
    this.value = value;
  }

  /** Removes the optional parts with issues, and returns them; undefined if a part cannot be removed. */
  remove(section: Section, { issues }: InvalidRecordError): readonly InvalidElement[] | undefined {
    const removed = new Map<string, InvalidElement & Place>();
    for (const { path, reason } of issues) {
      const part = optionalPart(section, path);
      if (part === undefined) return undefined;
      if (removed.has(part)) continue;
      const place = this.find(part);
      if (place === undefined) return undefined;
      const inner = path.slice(part.length).replace(/^\./, '');
      const problem = `${inner === '' ? '' : `${inner}: `}${reason}${this.givenForm(path)}`;
      removed.set(part, {
        ...place,
        field: this.originalPath(part, place),
        problem: shortenedText(problem, MAX_REASON_CHARACTERS),
      });
    }
    const places = [...removed.values()];
    for (const { holder, name } of places) Reflect.deleteProperty(holder, name);
    // Deleting an element leaves a hole in its list, so the positions of the other elements remain valid. The holes are
    // removed at the end.
    for (const list of new Set(places.map(({ holder }) => holder).filter(Array.isArray))) this.closeHoles(list);
    return places.map(({ field, problem }) => ({ field, problem }));
  }

  private closeHoles(list: unknown[]): void {
    const kept = [...list.keys()].filter((index) => Object.hasOwn(list, index));
    const positions = this.positionsOf(list);
    this.positions.set(
      list,
      kept.map((index) => positions[index] ?? index),
    );
    list.splice(0, list.length, ...kept.map((index) => list[index]));
  }

  private positionsOf(list: unknown[]): number[] {
    return this.positions.get(list) ?? [...list.keys()];
  }

  private originalPath(part: string, { holder, name }: Place): string {
    if (!Array.isArray(holder)) return part;
    return `${part.slice(0, part.lastIndexOf('['))}[${this.positionsOf(holder)[Number(name)]}]`;
  }

  /** Finds a part; undefined if it is absent, in both spellings, or in a list that is too long. */
  private find(path: string): Place | undefined {
    const steps = path.replaceAll(/\[(\d+)\]/g, '.$1').split('.');
    let place: Place | undefined;
    let value = this.value;
    for (const step of steps) {
      if (typeof value !== 'object' || value === null) return undefined;
      const holder: object = value;
      if (Array.isArray(holder) && holder.length > fixedLimits.listElements) return undefined;
      const [name, other] = [...new Set([step, snakeCase(step)])].filter((spelling) => Object.hasOwn(holder, spelling));
      if (name === undefined || other !== undefined) return undefined;
      place = { holder, name };
      value = Reflect.get(holder, name);
    }
    return place;
  }

  /** Describes the value of an invalid field as the file has it, if it is present and not empty. */
  private givenForm(path: string): string {
    const place = this.find(path);
    const value: unknown = place === undefined ? undefined : Reflect.get(place.holder, place.name);
    if (value === undefined || value === '') return '';
    if (Array.isArray(value)) return ', not a list';
    if (isJsonObject(value)) return ', not an object';
    if (SECRET.test(path)) return `, not this ${typeof value}`;
    return `, not ${shortenedText(JSON.stringify(value), MAX_VALUE_CHARACTERS)}`;
  }
}
