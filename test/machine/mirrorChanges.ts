import fc from 'fast-check';
import { z } from 'zod';
import { isJsonObject, putAt, textAt } from '../../shared/json/jsonObject.ts';
import type { Organisation } from '../support/fixtures/organisations.ts';

const organisationSchema = z.looseObject({ orgId: z.string() });

/** A change of the records of an instance since the last mirror, which random files seldom contain. */
export type Change =
  | { readonly kind: 'passes names on'; readonly sections: readonly string[]; readonly path: string }
  | { readonly kind: 'gives a new id'; readonly from: string; readonly to: string }
  | { readonly kind: 'loses a role'; readonly role: string }
  | { readonly kind: 'respells a role'; readonly role: string; readonly spelling: string };

export const anyChange: fc.Arbitrary<Change> = fc.oneof(
  fc
    .constantFrom(
      ...[
        { sections: ['humanUsers', 'machineUsers'], path: 'user.userName' },
        { sections: ['projects'], path: 'project.name' },
        { sections: ['actions'], path: 'action.name' },
        { sections: ['oidcIdps', 'jwtIdps'], path: 'idp.name' },
        { sections: [], path: 'org.name' },
      ],
    )
    .map((names) => ({ kind: 'passes names on' as const, ...names })),
  fc
    .constantFrom('ta', 'tb', 'pa', 'pb', 'a1', 'b1', 'c1', 'ia', 'xa', 'ga', 'gb')
    .chain((id) => fc.constantFrom([id, `n${id}`], [`n${id}`, id]))
    .map(([from = '', to = '']) => ({ kind: 'gives a new id' as const, from, to })),
  fc.constantFrom('r1', 'r2').map((role) => ({ kind: 'loses a role' as const, role })),
  fc
    .constantFrom(['r1', 'R1'], ['r2', 'R2'], ['R2', 'r2'])
    .map(([role = '', spelling = '']) => ({ kind: 'respells a role' as const, role, spelling })),
);

/** Applies a change to organisations. */
export function withChange(orgs: readonly Organisation[], change: Change): readonly Organisation[] {
  const copy = structuredClone(orgs);
  if (change.kind === 'passes names on') {
    const { sections, path } = change;
    if (sections.length === 0) passOn(copy, path);
    for (const org of copy)
      passOn(
        sections.flatMap((section) => org[section] ?? []),
        path,
      );
    return copy;
  }
  return copy.map((org) => replaced(org, change));
}

/** Gives each record the name of the next one, and the last record that of the first one. */
function passOn(values: readonly unknown[], path: string): void {
  const records = values.filter(isJsonObject);
  const names = records.map((record) => textAt(record, path, ''));
  for (const [index, record] of records.entries()) putAt(record, path, names[(index + 1) % names.length]);
}

/** Returns an organisation in which an id or a role is replaced, but not the names that equal it. */
function replaced(org: Organisation, change: Exclude<Change, { readonly kind: 'passes names on' }>): Organisation {
  const isRoles = (name: string) => name === 'roleKey' || name === 'roleKeys';
  const text = JSON.stringify(org, (name, value: unknown) => {
    if (change.kind === 'gives a new id') return name !== 'userName' && value === change.from ? change.to : value;
    if (change.kind === 'respells a role' && isRoles(name)) return respelled(value, change);
    if (change.kind !== 'loses a role' || !Array.isArray(value)) return value;
    const isLost = (one: unknown) => (name === 'roleKeys' ? one : isJsonObject(one) && one.roleKey) === change.role;
    return name === 'roleKeys' || name === 'projectRoles' ? value.filter((one) => !isLost(one)) : value;
  });
  return organisationSchema.parse(JSON.parse(text));
}

function respelled(value: unknown, { role, spelling }: { readonly role: string; readonly spelling: string }): unknown {
  if (Array.isArray(value)) return value.map((one) => (one === role ? spelling : one));
  return value === role ? spelling : value;
}
