import fc from 'fast-check';
import { replaceAt, type Slot, slotsOf, type Tree, toText, toTree, valueAt } from './jsonTree.ts';
import { anyString, anyTree } from './junk.ts';

/** The input of an edit: its position, another position, and a foreign value. */
interface Strike {
  readonly slot: Slot;
  readonly value: Tree;
  readonly other: Tree;
  readonly foreign: Tree;
  readonly name: string;
  readonly times: number;
}

/** The ways to edit a document. */
const edits = {
  replace: ({ slot, foreign }: Strike) => replaceAt(slot, [foreign]),
  remove: ({ slot }: Strike) => replaceAt(slot, []),
  repeat: ({ slot, value, times }: Strike) => replaceAt(slot, Array(times).fill(value)),
  repeatOtherwise: ({ slot, value, foreign }: Strike) => replaceAt(slot, [value, foreign]),
  exchange: ({ slot, other }: Strike) => replaceAt(slot, [other]),
  wrap: ({ slot, value }: Strike) => replaceAt(slot, [{ items: [value] }]),
  nest: ({ slot, value, name }: Strike) => replaceAt(slot, [{ fields: [[JSON.stringify(name), value]] }]),
  rename: ({ slot, name }: Strike) => rename(slot, () => JSON.stringify(name)),
  respell: ({ slot }: Strike) => rename(slot, respelled),
  add: ({ slot: { parent }, foreign, name }: Strike) => {
    if ('items' in parent) parent.items.push(foreign);
    else parent.fields.push([JSON.stringify(name), foreign]);
  },
} as const;

function rename({ parent, index }: Slot, name: (key: string) => string): void {
  if (!('fields' in parent)) return;
  const field = parent.fields[index];
  if (field !== undefined) parent.fields[index] = [name(field[0]), field[1]];
}

/** The other spelling of a field: snake_case for camelCase, and the reverse. */
function respelled(key: string): string {
  return key.includes('_')
    ? key.replace(/_(.)/g, (_match, letter: string) => letter.toUpperCase())
    : key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

type EditName = keyof typeof edits;

const names: readonly EditName[] = [
  ...(['replace', 'replace', 'replace', 'remove', 'repeat', 'repeatOtherwise', 'exchange'] as const),
  ...(['wrap', 'nest', 'rename', 'respell', 'add'] as const),
];

const anyEdit = fc.record({
  name: fc.constantFrom(...names),
  at: fc.nat(),
  otherAt: fc.nat(),
  foreign: anyTree,
  key: fc.oneof(anyString, fc.constantFrom('orgs', 'orgId', 'timeout', 'userId', 'user', 'state', 'manifest')),
  times: fc.oneof({ weight: 30, arbitrary: fc.constantFrom(2, 3) }, { weight: 1, arbitrary: fc.constantFrom(40, 300) }),
});

/** Texts of documents with a few random edits; many are not valid documents. */
export function editedJson(bases: readonly unknown[], maxEdits = 4): fc.Arbitrary<string> {
  return fc.tuple(fc.nat(bases.length - 1), fc.array(anyEdit, { maxLength: maxEdits })).map(([which, wanted]) => {
    // The root is an item too, so that it can be edited.
    const root = { items: [toTree(bases[which])] };
    for (const { name, at, otherAt, foreign, key, times } of wanted) {
      const slots = slotsOf(root);
      const slot = slots[at % slots.length];
      const other = slots[otherAt % slots.length];
      const value = slot && valueAt(slot);
      if (slot === undefined || other === undefined || value === undefined) continue;
      // As text, since a tree that contained itself would never end.
      const copy = { text: toText(valueAt(other) ?? foreign) };
      edits[name]({ slot, value, other: copy, foreign, name: key, times });
    }
    return root.items.map(toText).join('');
  });
}
