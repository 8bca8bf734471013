import { isJsonObject } from '../../../shared/json/jsonObject.ts';

/** JSON before serialisation: unlike a value, it can have duplicate keys, and invalid numbers and texts. */
export type Tree = Scalar | List | Message;

/** Text that is written unchanged. */
export interface Scalar {
  readonly text: string;
}

/** An array. */
interface List {
  readonly items: Tree[];
}

/** An object; its keys are JSON texts. */
interface Message {
  readonly fields: [key: string, value: Tree][];
}

/** Converts a value to a tree of its own. */
export function toTree(value: unknown): Tree {
  if (Array.isArray(value)) return { items: value.map(toTree) };
  if (isJsonObject(value))
    return { fields: Object.entries(value).map(([key, part]) => [JSON.stringify(key), toTree(part)]) };
  return { text: JSON.stringify(value) };
}

/** Writes a tree. */
export function toText(tree: Tree): string {
  if ('text' in tree) return tree.text;
  if ('items' in tree) return `[${tree.items.map(toText).join(',')}]`;
  return `{${tree.fields.map(([key, value]) => `${key}:${toText(value)}`).join(',')}}`;
}

/** The place of a value in its array or object. */
export interface Slot {
  readonly parent: List | Message;
  readonly index: number;
}

/** Lists the places of all values in a tree, from the outside to the inside. */
export function slotsOf(tree: Tree): Slot[] {
  const slots: Slot[] = [];
  const visit = (parent: Tree) => {
    if ('text' in parent) return;
    const children = 'items' in parent ? parent.items : parent.fields.map(([, value]) => value);
    for (const [index, child] of children.entries()) {
      slots.push({ parent, index });
      visit(child);
    }
  };
  visit(tree);
  return slots;
}

/** Returns the value in a place; undefined if an edit has removed it. */
export function valueAt({ parent, index }: Slot): Tree | undefined {
  return 'items' in parent ? parent.items[index] : parent.fields[index]?.[1];
}

/** Replaces the value in a place by others: none, one or several. An object gets each under the same key. */
export function replaceAt({ parent, index }: Slot, values: readonly Tree[]): void {
  if ('items' in parent) {
    parent.items.splice(index, 1, ...values);
    return;
  }
  const key = parent.fields[index]?.[0] ?? '""';
  parent.fields.splice(index, 1, ...values.map((value): [string, Tree] => [key, value]));
}
