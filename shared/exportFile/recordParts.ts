import { shortenedText } from '../errors/identityError.ts';
import { isJsonObject } from '../json/jsonObject.ts';
import { snakeCase } from '../json/spelling.ts';
import { fixedLimits } from '../limits.ts';
import type { InvalidRecordError } from '../organisation/message.ts';
import { optionalPart } from '../organisation/optionalParts.ts';
import type { InvalidElement } from '../organisation/record.ts';
import type { Section } from '../organisation/sections/section.ts';

/** The maximum number of characters in the reason of an issue, including quoted values. */
export const MAX_REASON_CHARACTERS = 300;

const MAX_VALUE_CHARACTERS = 60;

/** Matches the paths of secrets. The reason of an issue must not quote the value of a secret. */
const SECRET = /password|secret|otpCode/i;

/** The object or list that contains a value, and the value's name or index in this object or list. */
interface Place {
  readonly holder: object;
  readonly name: string;
}

export class RecordParts {
  readonly value: unknown;
  /** Maps each list from which elements were deleted to the original positions of the remaining elements. */
  private readonly positions = new Map<unknown[], number[]>();

  constructor(value: unknown) {
    this.value = value;
  }

  /**
   * Removes the parts of the record that have issues, and returns them. If an import must not leave out one of these
   * parts, removes nothing and returns undefined.
   */
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
    // `deleteProperty` leaves a hole in a list, so the other elements keep their positions during the deletions. After
    // the deletions, close the holes.
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

  /**
   * Finds the value at a path. Returns undefined if the value is absent, if the record has both spellings of a name on
   * the path, or if a list on the path is too long.
   */
  private find(path: string): Place | undefined {
    const steps = path.replaceAll(/\[(\d+)\]/g, '.$1').split('.');
    let place: Place | undefined;
    let value = this.value;
    for (const step of steps) {
      if (typeof value !== 'object' || value === null) return undefined;
      const holder: object = value;
      if (Array.isArray(holder) && holder.length > fixedLimits.listElements) return undefined;
      const [name, secondName] = [...new Set([step, snakeCase(step)])].filter((spelling) =>
        Object.hasOwn(holder, spelling),
      );
      if (name === undefined || secondName !== undefined) return undefined;
      place = { holder, name };
      value = Reflect.get(holder, name);
    }
    return place;
  }

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
